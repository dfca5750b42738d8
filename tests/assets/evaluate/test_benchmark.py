"""Evaluation on a bad day: a loss is a loss by name, never a score, an answer or part of a history."""

from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from assets.common.tables import rows_to_arrow
from methods.mmdu.judging import DIMENSIONS
from methods.prompts.prompt_template import as_data
from resources.warehouse import Warehouse
from tests.assets.conftest import CopyWorld
from tests.assets.world import (
    ANY_ASSETS,
    ANY_LOSS_IN_EVALUATION,
    Result,
    Row,
    World,
    data_url_hash,
    metadata,
)
from tests.doubles.garbling_proxy import When

pytestmark = pytest.mark.slow

ANSWERS = dg.AssetSelection.assets(["evaluate", "answers"])
OUT_OF_LUCK = "the model is out of luck today"
N_TURNS = 6
Place = tuple[str, int]
"""Item and turn."""


def items(world: World) -> list[str]:
    """The benchmark's items, in order."""
    return [
        row["item_id"]
        for row in world.rows(
            "SELECT item_id FROM release.items JOIN release.current USING (release_id) "
            "WHERE name = 'mmdu' ORDER BY ordinal"
        )
    ]


def turn_of(world: World, model: str, item: str, turn: int) -> When:
    """The request for one model's answer to one turn."""
    first = world.rows(
        "SELECT image_id FROM release.images WHERE item_id = $i AND position = 1", i=item
    )[0]
    shown = data_url_hash(world, first["image_id"])
    return lambda asked: (
        (asked.model, asked.turn, asked.images[0]) == (f"offline-{model}", turn, shown)
    )


def judging_of(world: World, model: str, item: str, turn: int) -> When:
    """The request to judge that answer; it holds no name, so it is known by its texts."""
    texts = world.rows(
        "SELECT r.reference, a.answer FROM release.references AS r JOIN evaluate.answers AS a "
        "USING (release_id, item_id, turn) WHERE a.model = $m AND item_id = $i AND turn = $t",
        m=model,
        i=item,
        t=turn,
    )[0]
    wanted = [f"<{name}>{as_data(text)}</{name}>" for name, text in texts.items()]
    return lambda asked: asked.task == "judge" and all(text in asked.text for text in wanted)


def judging_by_reference(world: World, item: str, turn: int) -> When:
    """The requests to judge any answer to that turn."""
    (row,) = world.rows(
        "SELECT reference FROM release.references WHERE item_id = $i AND turn = $t", i=item, t=turn
    )
    wanted = f"<reference>{as_data(row['reference'])}</reference>"
    return lambda asked: asked.task == "judge" and wanted in asked.text


def grades(score: object, *, without: str = "") -> str:
    """A judge's reply that gives every dimension this score."""
    given = {dimension: score for dimension in DIMENSIONS if dimension != without}
    return f"It is what it is.\n{given}"


def answers_of(world: World, model: str) -> dict[Place, Row]:
    found = world.rows("SELECT * FROM evaluate.answers WHERE model = $m", m=model)
    return {(row["item_id"], row["turn"]): row for row in found}


def failed_of(world: World, model: str, stage: str) -> dict[Place, Row]:
    found = world.rows(
        "SELECT * FROM evaluate.failed WHERE model = $m AND stage = $s", m=model, s=stage
    )
    assert all(row["detail"] for row in found)
    return {(row["item_id"], row["turn"]): row for row in found}


def scores_of(world: World, model: str, metric: str, form: str = "judged") -> list[Row]:
    name, aggregation = metric.split("/")
    return world.rows(
        "SELECT * FROM evaluate.scores WHERE model = $m AND metric = $d AND aggregation = $a "
        "AND form = $f AND subset_label = ''",
        m=model,
        d=name,
        a=aggregation,
        f=form,
    )


# --- A bad day -----------------------------------------------------------------------------------


@dataclass
class BadDay:
    """`careful` fails at turn 2 of the second item and is filtered at turn 5 of the third; the judge
    botches the first three turns of the first item and fails on the last turn of the fourth."""

    world: World
    items: list[str]
    run: Result
    """The run that may lose what it will."""
    leaderboard: Result


@pytest.fixture(scope="module")
def bad_day(released: World, copied: CopyWorld) -> BadDay:
    world = copied(released)
    first, second, third, fourth = items(world)
    proxy = world.proxy
    proxy.refuse(turn_of(world, "careful", second, 2), 400, OUT_OF_LUCK)
    proxy.filter(turn_of(world, "careful", third, 5))
    # The judge's requests are known by the answers in them.
    answered = world.run(ANY_ASSETS, ANY_LOSS_IN_EVALUATION, assets=ANSWERS)
    assert answered.success

    lacking = grades(7, without="Richness")
    proxy.rewrite(judging_of(world, "careful", first, 1), lacking)
    proxy.rewrite(judging_of(world, "careful", first, 2), grades(11))
    proxy.rewrite(judging_of(world, "careful", first, 3), "Very good, nine out of ten.")
    proxy.refuse(judging_of(world, "careful", fourth, N_TURNS), 400, OUT_OF_LUCK)
    run = world.evaluate(config=ANY_LOSS_IN_EVALUATION)
    return BadDay(world, [first, second, third, fourth], run, world.leaderboard())


def test_a_dialogue_ends_with_the_turn_that_failed(bad_day: BadDay) -> None:
    second = bad_day.items[1]
    given = answers_of(bad_day.world, "careful")
    status = [given[second, turn]["status"] for turn in range(1, N_TURNS + 1)]
    assert status == ["answered", "failed", *["not_asked"] * 4]
    assert [given[second, turn]["answer"] for turn in range(2, N_TURNS + 1)] == [None] * 5
    lost = failed_of(bad_day.world, "careful", "answers")
    assert (lost[second, 2]["reason"], lost[second, 2]["call_key"]) == (
        "bad_request",
        given[second, 2]["call_key"],
    )
    assert OUT_OF_LUCK in lost[second, 2]["detail"]
    for turn in range(3, N_TURNS + 1):
        assert lost[second, turn]["reason"] == "not_asked"
        assert lost[second, turn]["detail"] == "Turn 2 has no answer."
        assert lost[second, turn]["call_key"] is None


def test_a_filtered_answer_is_refused_without_a_text(bad_day: BadDay) -> None:
    third = bad_day.items[2]
    given = answers_of(bad_day.world, "careful")
    assert (given[third, 5]["status"], given[third, 5]["answer"]) == ("refused", None)
    lost = failed_of(bad_day.world, "careful", "answers")
    assert lost[third, 5]["reason"] == "refused"
    # There is no text to go on from.
    assert lost[third, 6]["reason"] == "not_asked"
    assert metadata(bad_day.run, "evaluate/answers")["refused"] == 1


def test_a_judges_reply_that_is_not_whole_is_no_score(bad_day: BadDay) -> None:
    first, *_, fourth = bad_day.items
    lost = failed_of(bad_day.world, "careful", "judgments")
    assert {place: row["reason"] for place, row in lost.items()} == {
        (first, 1): "missing_score",
        (first, 2): "out_of_range",
        (first, 3): "no_dictionary",
        (fourth, N_TURNS): "bad_request",
    }
    assert lost[first, 1]["detail"] == "The judge gave no score for Richness."
    assert "outside 1 to 10" in lost[first, 2]["detail"]
    ledger = bad_day.world.ledger.find([lost[first, 3]["call_key"]])
    assert ledger[lost[first, 3]["call_key"]].text == "Very good, nine out of ten."
    judged = bad_day.world.rows("SELECT item_id, turn FROM evaluate.judgments")
    told = metadata(bad_day.run, "evaluate/judgments")
    assert told["failed"] == 4
    assert "| missing_score | 1 |" in told["reasons"]
    assert (
        not {(row["item_id"], row["turn"]) for row in judged}
        - answers_of(bad_day.world, "careful").keys()
    )


def test_every_turn_is_accounted_for(bad_day: BadDay) -> None:
    (row,) = scores_of(bad_day.world, "careful", "Overall Score/micro")
    assert row["n_turns"] == 4 * N_TURNS
    # Turn 2 and four after it, the one after the filtered turn, and four judgments.
    assert row["n_failed"] == 5 + 1 + 4
    assert row["n_refused"] == 1
    assert row["n_judged"] == 24 - 10 - 1
    (row,) = scores_of(bad_day.world, "careless", "Overall Score/micro")
    assert (row["n_judged"], row["n_failed"], row["n_refused"]) == (row["n_turns"], 0, 0)


def test_the_leaderboard_and_the_report_show_the_losses_beside_the_scores(bad_day: BadDay) -> None:
    assert bad_day.leaderboard.success
    shown = bad_day.world.rows(
        "SELECT model, n_judged, n_failed, n_refused FROM evaluate.leaderboard "
        "WHERE metric = 'Overall Score/micro' ORDER BY model"
    )
    assert [tuple(row.values()) for row in shown] == [
        ("careful", 13, 10, 1),
        ("careless", 24, 0, 0),
    ]
    assert "not_asked" in bad_day.world.report()


# --- Numbers by hand -----------------------------------------------------------------------------


def test_means_worked_by_hand_and_lost_judgments_of_refusals(
    released: World, copied: CopyWorld, tmp_path: Path
) -> None:
    """Three judgments are left: 4 and 8 in one dialogue, 9 in another.

    micro = 10 (4 + 8 + 9) / 3 = 70; macro = 10 ((4 + 8) / 2 + 9) / 2 = 75.
    """
    world = copied(released, tmp_path)
    first, second, *_ = items(world)
    rigged = {(first, 1): 4, (first, 2): 8, (second, 1): 9}
    for (item, turn), score in rigged.items():
        world.proxy.rewrite(judging_by_reference(world, item, turn), grades(score))
    world.proxy.rewrite(lambda asked: asked.task == "judge", "No grades today.")

    assert world.evaluate("refuser", config=ANY_LOSS_IN_EVALUATION).success
    assert world.score().success

    for dimension in DIMENSIONS:
        (by_turn,) = scores_of(world, "refuser", f"{dimension}/micro")
        (by_dialogue,) = scores_of(world, "refuser", f"{dimension}/macro")
        assert by_turn["value"] == pytest.approx(70)
        assert by_dialogue["value"] == pytest.approx(75)
        assert by_turn["n_judged"] == 3
    # It declined every turn in its own words, which are judged like any; 21 of these judgments are
    # lost, and a refusal must not hide that.
    assert (by_turn["n_refused"], by_turn["n_failed"]) == (24, 21)


def test_what_has_no_reference_counts_in_no_score(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    place = {"benchmark": "b", "release_id": "r", "model": "m", "item_id": "i", "trial": "plain"}
    told = {"provider": "p", "status": "answered", "answer": "A.", "prompt_version": "v@1"}
    scored = {"judge": "j", "judge_version": "1", "replicate": 0, "metric": "M", "part": ""}
    given = [{"status": "judged", "value": 7.0}, {"status": "no_reference"}, {"status": "empty"}]
    answers = [{**place, **told, "turn": turn} for turn in range(1, 4)]
    seen = [{**place, **scored, "turn": turn, **of} for turn, of in enumerate(given, start=1)]
    warehouse.replace("evaluate.answers", rows_to_arrow("evaluate.answers", answers))
    warehouse.replace("evaluate.observations", rows_to_arrow("evaluate.observations", seen))

    rows = warehouse.read("evaluate/observed_of", {"release_id": "r", "models": ["m"]}).to_pylist()

    assert [(row["turn"], row["status"], row["value"]) for row in rows] == [
        (1, "judged", 7.0),
        (3, "empty", None),
    ]
