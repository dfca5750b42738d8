"""Evaluation on a bad day: a loss is a loss by name, never a score, an answer or part of a history."""

from pathlib import Path

import dagster as dg
import pytest

from methods.mmdu.judging import DIMENSIONS
from methods.prompts.prompt_template import as_data
from tests.assets.conftest import CopyWorld
from tests.assets.world import (
    ANY_ASSETS,
    ANY_LOSS_IN_EVALUATION,
    REPORTS,
    SCORING,
    Row,
    World,
    data_url_hash,
    sentence,
)
from tests.doubles.garbling_proxy import When

pytestmark = pytest.mark.slow

ANSWERS = dg.AssetSelection.assets(["evaluate", "answers"])
OUT_OF_LUCK = "the model is out of luck today"
THOUGHT = "The tower is in front of the river."
N_TURNS = 6
OVERALL = "Overall Score/micro"
Place = tuple[str, int]
"""Item and turn."""


def turn_of(world: World, model: str, item: str, turn: int) -> When:
    """The request for one model's answer to one turn."""
    (first,) = world.rows(
        "SELECT DISTINCT image_id FROM release.images WHERE item_id = $i AND position = 1", i=item
    )
    wanted = (f"offline-{model}", turn, data_url_hash(world, first["image_id"]))
    return lambda asked: (asked.model, asked.turn, asked.images[0]) == wanted


def judging(world: World, item: str, turn: int, model: str | None = None) -> When:
    """The requests to judge any answer to that turn, or one model's; they hold no name."""
    texts = world.rows(
        "SELECT r.reference, a.answer FROM release.references AS r LEFT JOIN evaluate.answers AS a "
        "ON (a.item_id, a.turn, a.model) = (r.item_id, r.turn, $m) "
        "WHERE r.item_id = $i AND r.turn = $t",
        **{"m": model, "i": item, "t": turn},
    )[0]
    wanted = [f"<{name}>{as_data(text)}</{name}>" for name, text in texts.items() if text]
    return lambda asked: asked.task == "judge" and all(text in asked.text for text in wanted)


def grades(score: object, *, without: str = "") -> str:
    """A judge's reply that gives every dimension this score."""
    given = {dimension: score for dimension in DIMENSIONS if dimension != without}
    return f"It is what it is.\n{given}"


def answers_of(world: World, model: str) -> dict[Place, Row]:
    found = world.table("evaluate.answers", model=model)
    return {(row["item_id"], row["turn"]): row for row in found}


def failed_of(world: World, model: str, stage: str) -> dict[Place, Row]:
    found = world.table("evaluate.failed", model=model, stage=stage)
    assert all(row["detail"] for row in found)
    return {(row["item_id"], row["turn"]): row for row in found}


@pytest.fixture(scope="module")
def bad_day(released: World, copied: CopyWorld) -> World:
    """Everything goes wrong once, for another model or in another way.

    `careful` fails at turn 2 of the second item and is filtered at turn 5 of the third; the judge
    botches its first three turns of the first item and fails on the last turn of the fourth.
    `careless` is cut off in turn 2 of the first item, only thinks in turn 1 of the second, says
    nothing in turn 6 of the third, and thinks aloud in turn 1 of the fourth.
    """
    world = copied(released)
    first, second, third, fourth = world.items()
    proxy = world.proxy
    proxy.refuse(turn_of(world, "careful", second, 2), 400, OUT_OF_LUCK)
    proxy.filter(turn_of(world, "careful", third, 5))
    proxy.rewrite(turn_of(world, "careless", first, 2), lambda text: text[:20], "length")
    proxy.rewrite(turn_of(world, "careless", second, 1), f"<think>{THOUGHT}")
    proxy.rewrite(turn_of(world, "careless", third, N_TURNS), " \n")
    aloud = f"<think>{THOUGHT}</think>\n\n"
    proxy.rewrite(turn_of(world, "careless", fourth, 1), lambda text: aloud + text)
    # The judge's requests are known by the answers in them.
    assert world.run(ANY_ASSETS, ANY_LOSS_IN_EVALUATION, assets=ANSWERS).success

    proxy.rewrite(judging(world, first, 1, "careful"), grades(7, without="Richness"))
    proxy.rewrite(judging(world, first, 2, "careful"), grades(11))
    proxy.rewrite(judging(world, first, 3, "careful"), "Very good, nine out of ten.")
    proxy.refuse(judging(world, fourth, N_TURNS, "careful"), 400, OUT_OF_LUCK)
    assert world.evaluate(config=ANY_LOSS_IN_EVALUATION).success
    assert world.run(ANY_ASSETS, assets=SCORING | REPORTS).success
    return world


def test_a_dialogue_ends_with_the_turn_that_failed_or_was_filtered(bad_day: World) -> None:
    _, second, third, _ = bad_day.items()
    given = answers_of(bad_day, "careful")
    shown = [given[second, turn] for turn in range(1, N_TURNS + 1)]
    assert [row["status"] for row in shown] == ["answered", "failed", *["not_asked"] * 4]
    assert [row["answer"] for row in shown[1:]] == [None] * 5
    lost = failed_of(bad_day, "careful", "answers")
    assert lost[second, 2]["reason"] == "bad_request"
    assert lost[second, 2]["call_key"] == given[second, 2]["call_key"]
    assert OUT_OF_LUCK in lost[second, 2]["detail"]
    for turn in range(3, N_TURNS + 1):
        row = lost[second, turn]
        assert (row["reason"], row["call_key"]) == ("not_asked", None)
        assert row["detail"] == "Turn 2 has no answer."
    # A filter's refusal has no text to go on from.
    assert (given[third, 5]["status"], given[third, 5]["answer"]) == ("refused", None)
    assert (lost[third, 5]["reason"], lost[third, 6]["reason"]) == ("refused", "not_asked")


def test_a_reply_that_is_no_answer_has_a_status_and_how_it_ended(bad_day: World) -> None:
    first, second, third, fourth = bad_day.items()
    answers = answers_of(bad_day, "careless")
    shown = {
        place: (row["status"], row["finish_reason"], row["reasoning"])
        for place, row in answers.items()
        if row["status"] not in ("answered", "not_asked")
    }
    assert shown == {
        (first, 2): ("truncated", "length", None),
        (second, 1): ("reasoning_only", "stop", THOUGHT),
        (third, N_TURNS): ("empty", "stop", None),
    }
    assert all(answers[place]["answer"] is None and answers[place]["call_key"] for place in shown)
    failed = failed_of(bad_day, "careless", "answers")
    assert [failed[first, turn]["reason"] for turn in (2, 3)] == ["truncated", "not_asked"]
    told = bad_day.told("evaluate/answers")
    counted = {name: told[name] for name in ("truncated", "reasoning_only", "empty", "refused")}
    assert set(counted.values()) == {1}
    # Reasoning is kept beside the answer; neither the judge nor the model's own later turns see it.
    aloud = answers[fourth, 1]
    assert (aloud["status"], aloud["reasoning"]) == ("answered", THOUGHT)
    assert THOUGHT not in aloud["answer"] and "think>" not in aloud["answer"]
    assert not any(THOUGHT in asked.text for asked in bad_day.proxy.requests)


def test_a_judges_reply_that_is_not_whole_is_no_score(bad_day: World) -> None:
    first, *_, fourth = bad_day.items()
    lost = failed_of(bad_day, "careful", "judgments")
    assert {place: row["reason"] for place, row in lost.items()} == {
        (first, 1): "missing_score",
        (first, 2): "out_of_range",
        (first, 3): "no_dictionary",
        (fourth, N_TURNS): "bad_request",
    }
    assert lost[first, 1]["detail"] == "The judge gave no score for Richness."
    key = lost[first, 3]["call_key"]
    assert bad_day.ledger.find([key])[key].text == "Very good, nine out of ten."
    told = bad_day.told("evaluate/judgments")
    assert told["failed"] == 4 and "| missing_score | 1 |" in told["reasons"]


def test_every_turn_is_accounted_for_on_the_leaderboard_and_in_the_report(bad_day: World) -> None:
    names = ("judged", "failed", "refused", "truncated", "reasoning_only", "empty")
    counts = ", ".join(f"n_{name}" for name in names)
    rows = bad_day.rows(
        f"SELECT model, {counts} FROM evaluate.leaderboard WHERE metric = $m", m=OVERALL
    )
    assert {row.pop("model"): [*row.values()] for row in rows} == {
        # Turn 2 and four after it, the one after the filtered turn, and four judgments.
        "careful": [24 - 10 - 1, 5 + 1 + 4, 1, 0, 0, 0],
        # Four turns after the one that was cut off, five after the first one, which only thought.
        "careless": [24 - 9 - 3, 4 + 5, 0, 1, 1, 1],
    }
    page = bad_day.report()
    assert "not_asked" in page and "1 cut off, 1 reasoning only, 1 empty" in page


def test_what_the_token_limit_did_is_not_paid_for_again_and_asking_anew_asks_it(
    bad_day: World, copied: CopyWorld, tmp_path: Path
) -> None:
    world = copied(bad_day, tmp_path)

    assert world.evaluate("careless", config=ANY_LOSS_IN_EVALUATION).success

    # Only what was empty is asked again, and now it is answered.
    assert len([asked for asked in world.proxy.requests if not asked.task]) == 1
    statuses = [row["status"] for row in answers_of(world, "careless").values()]
    assert (statuses.count("truncated"), statuses.count("empty")) == (1, 0)

    again = {"model": "careless", "stage": "evaluate/answers"}
    assert world.run("re_ask", {"model_re_ask": {"config": again}}).success
    n_calls = len(world.ledger)
    assert world.evaluate("careless", config=ANY_LOSS_IN_EVALUATION).success
    assert {row["status"] for row in answers_of(world, "careless").values()} == {"answered"}
    # The earlier answers are there still.
    assert len(world.ledger) >= n_calls + 4 * N_TURNS

    nothing = world.run("re_ask", {"model_re_ask": {"config": {"stage": "dialogue/nonsense"}}})
    assert sentence(nothing).startswith("The ledger has no answer of the stage dialogue.nonsense;")


@pytest.mark.parametrize(
    ("model", "n_failed", "n_unjudged"),
    [
        # Five turns of one dialogue and two of another; four judgments.
        ("careful", 5 + 2, 4),
        # Five, six and one.
        ("careless", 5 + 6 + 1, 0),
    ],
)
def test_vlmevalkits_numbers_follow_from_the_rows_and_from_ours(
    bad_day: World, model: str, n_failed: int, n_unjudged: int
) -> None:
    """`valid` is the mean over judged turns, `all` counts every other turn as 0; both times 10.

    Ours has no turn that the judge failed in `floor`, and counts what the model failed as the lowest
    grade, 1. With N turns, of which the model failed F and the judge U:
    `all` = (`floor` x (N - U) - 10 F) / N; where the judge failed nothing, `floor` - 10 F / N.
    """
    rows = bad_day.rows(
        "SELECT a.answer, j.scores['Overall Score'] AS grade FROM evaluate.answers AS a "
        "LEFT JOIN evaluate.judgments AS j USING (release_id, model, item_id, turn) "
        "WHERE a.model = $m",
        m=model,
    )
    grades = [row["grade"] for row in rows if row["grade"] is not None]
    valid = 10 * sum(grades) / len(grades)
    all_turns = 10 * sum(grades) / len(rows)
    n = len(rows)
    assert sum(row["answer"] is None for row in rows) == n_failed
    assert n - len(grades) - n_failed == n_unjudged

    floor = bad_day.scores(OVERALL)[model]
    assert bad_day.scores(OVERALL, "judged")[model] == pytest.approx(valid)
    assert (floor * (n - n_unjudged) - 10 * n_failed) / n == pytest.approx(all_turns)
    # A number of survivors alone is never below one that counts what was lost.
    assert valid >= floor >= all_turns
