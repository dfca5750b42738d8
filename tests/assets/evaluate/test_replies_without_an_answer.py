"""Replies that are no answers: a status of their own, never judged, counted beside the scores."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.assets.conftest import CopyWorld
from tests.assets.evaluate.test_benchmark import (
    N_TURNS,
    answers_of,
    failed_of,
    items,
    scores_of,
    turn_of,
)
from tests.assets.world import ANY_LOSS_IN_EVALUATION, Result, World, metadata, sentence

pytestmark = pytest.mark.slow

THOUGHT = "The tower is in front of the river."


@dataclass
class Day:
    """A world after a model has answered so; `items` are the benchmark's, in order."""

    world: World
    run: Result
    items: list[str]


@pytest.fixture(scope="module")
def day(released: World, copied: CopyWorld) -> Day:
    """`careful` is cut off in turn 2, only thinks in turn 1, says nothing in turn 6, thinks aloud."""
    world = copied(released)
    first, second, third, fourth = items(world)
    proxy = world.proxy
    proxy.rewrite(turn_of(world, "careful", first, 2), lambda text: text[:20], "length")
    proxy.rewrite(turn_of(world, "careful", second, 1), f"<think>{THOUGHT}")
    proxy.rewrite(turn_of(world, "careful", third, N_TURNS), " \n")
    proxy.rewrite(
        turn_of(world, "careful", fourth, 1), lambda text: f"<think>{THOUGHT}</think>\n\n{text}"
    )
    run = world.evaluate("careful", config=ANY_LOSS_IN_EVALUATION)
    assert run.success
    assert world.leaderboard().success
    return Day(world, run, [first, second, third, fourth])


def test_each_has_a_status_and_how_it_ended_and_no_answer(day: Day) -> None:
    answers = answers_of(day.world, "careful")
    first, second, third, _ = day.items
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
    # Without an answer there is no history to ask the next turn over.
    failed = failed_of(day.world, "careful", "answers")
    reasons = {place: row["reason"] for place, row in failed.items()}
    assert {turn for (item, turn), reason in reasons.items() if item == first} == {2, 3, 4, 5, 6}
    assert reasons[first, 2] == "truncated" and reasons[first, 3] == "not_asked"
    told = metadata(day.run, "evaluate/answers")
    assert (told["truncated"], told["reasoning_only"], told["empty"], told["refused"]) == (
        1,
        1,
        1,
        0,
    )


def test_reasoning_is_kept_beside_the_answer_and_is_no_part_of_it(day: Day) -> None:
    row = answers_of(day.world, "careful")[day.items[3], 1]
    assert (row["status"], row["reasoning"]) == ("answered", THOUGHT)
    assert THOUGHT not in row["answer"] and "think>" not in row["answer"]
    # Neither the judge nor the model's own later turns see it.
    assert not any(THOUGHT in asked.text for asked in day.world.proxy.requests)


def test_none_of_them_is_judged_and_the_leaderboard_counts_them(day: Day) -> None:
    (row,) = scores_of(day.world, "careful", "Overall Score/micro")
    counted = {
        name: row[f"n_{name}"] for name in ("truncated", "reasoning_only", "empty", "refused")
    }
    assert counted == {"truncated": 1, "reasoning_only": 1, "empty": 1, "refused": 0}
    # Four turns after the one that was cut off, five after the first one, which only thought.
    assert (row["n_failed"], row["n_judged"]) == (4 + 5, 4 * N_TURNS - 12)
    (shown,) = day.world.rows(
        "SELECT n_truncated, n_reasoning_only, n_empty FROM evaluate.leaderboard "
        "WHERE metric = 'Overall Score/micro'"
    )
    assert tuple(shown.values()) == (1, 1, 1)
    assert "1 cut off, 1 reasoning only, 1 empty" in day.world.report()


def test_what_the_token_limit_did_is_not_paid_for_again_and_asking_anew_asks_it(
    day: Day, copied: CopyWorld, tmp_path: Path
) -> None:
    world = copied(day.world, tmp_path)

    assert world.evaluate("careful", config=ANY_LOSS_IN_EVALUATION).success

    # Only what was empty is asked again, and now it is answered.
    assert len([asked for asked in world.proxy.requests if not asked.task]) == 1
    statuses = [row["status"] for row in answers_of(world, "careful").values()]
    assert (statuses.count("truncated"), statuses.count("empty")) == (1, 0)

    again = {"model": "careful", "stage": "evaluate/answers"}
    run = world.run("re_ask", {"model_re_ask": {"config": again}})
    assert run.success
    n_calls = len(world.ledger)
    assert world.evaluate("careful", config=ANY_LOSS_IN_EVALUATION).success
    assert {row["status"] for row in answers_of(world, "careful").values()} == {"answered"}
    # The earlier answers are there still.
    assert len(world.ledger) >= n_calls + 4 * N_TURNS


def test_asking_anew_for_what_there_is_not_is_one_sentence(day: Day) -> None:
    run = day.world.run("re_ask", {"model_re_ask": {"config": {"stage": "dialogue/nonsense"}}})
    assert not run.success
    assert sentence(run).startswith("The ledger has no answer of the stage dialogue.nonsense; the")
