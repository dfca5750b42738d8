"""Dialogues that are too long for a model: what a policy makes of them, and that scores name it."""

from dataclasses import dataclass

import pytest

from assets.evaluate.judge import judge_version
from methods.benchmarks import BENCHMARKS
from tests.assets.conftest import CopyWorld
from tests.assets.evaluate.test_benchmark import N_TURNS, items
from tests.assets.world import ANY_ASSETS, ANY_LOSS_IN_EVALUATION, RANKING, World, metadata

pytestmark = pytest.mark.slow

CONTEXT_TOKENS = 2000
"""Two pictures (765 each) and what is said of them, and no third one."""
SMALL_CONTEXT = {
    "context_tokens": CONTEXT_TOKENS,
    "image_tokens": {"base": 85, "tile": 170},
}
JUDGED = judge_version(BENCHMARKS["mmdu"], "shown")
OF_MODELS = "SELECT DISTINCT judge_version, model FROM evaluate.{} ORDER BY ALL"


@dataclass
class Day:
    """A world where `careful` was asked under `truncate`, and then `careless` under `fail`."""

    world: World
    told: dict


@pytest.fixture(scope="module")
def day(released: World, copied: CopyWorld) -> Day:
    world = copied(released)
    world.set_models({"careful": SMALL_CONTEXT})
    world.write_settings({"evaluate": {"answers": {"context_policy": "truncate"}}})
    run = world.evaluate("careful")
    assert run.success
    world.write_settings({})
    assert world.evaluate("careless").success
    assert world.run(ANY_ASSETS, assets=RANKING).success
    return Day(world, metadata(run, "evaluate/answers"))


def test_no_turn_is_lost_and_each_says_how_many_were_left_out(day: Day) -> None:
    rows = day.world.rows(
        "SELECT item_id, turn, status, turns_left_out, prompt_version FROM evaluate.answers "
        "WHERE model = 'careful' ORDER BY ALL"
    )
    assert len(rows) == len(items(day.world)) * N_TURNS
    assert {row["status"] for row in rows} == {"answered"}
    assert {row["prompt_version"] for row in rows} == {"dialogue@1 context=truncate"}
    # Nothing is missing before the third picture, and later turns begin with as much left out.
    for item in items(day.world):
        left_out = [row["turns_left_out"] or 0 for row in rows if row["item_id"] == item]
        assert left_out[0] == left_out[1] == 0 < left_out[-1]
        assert left_out == sorted(left_out)
    shortened = sum(row["turns_left_out"] is not None for row in rows)
    assert (day.told["shortened"], day.told["context policy"]) == (shortened, "mmdu: truncate")


def test_what_is_sent_tells_the_model_what_it_lacks(day: Day) -> None:
    sent = [asked for asked in day.world.proxy.requests if asked.model == "offline-careful"]
    assert len(sent) == len(items(day.world)) * N_TURNS, "what is too long is not sent"
    told = [asked.texts[0] for asked in sent if "of this dialogue" in asked.texts[0]]
    assert len(told) == day.told["shortened"] > 0
    assert all("Left out with" in text and "<image-1>" in text for text in told)


@pytest.mark.parametrize("table", ["observations", "scores", "leaderboard", "ranks"])
def test_scores_under_two_policies_stand_apart_and_name_the_policy(day: Day, table: str) -> None:
    found = [tuple(row.values()) for row in day.world.rows(OF_MODELS.format(table))]
    assert found == [(JUDGED, "careless"), (f"{JUDGED} context=truncate", "careful")]
    assert day.world.rows("FROM evaluate.comparisons") == []


def test_under_fail_the_tail_is_not_asked_and_what_fits_is_not_paid_for_again(
    day: Day, copied: CopyWorld
) -> None:
    world = copied(day.world)
    world.set_models({"careful": SMALL_CONTEXT})
    run = world.evaluate("careful", config=ANY_LOSS_IN_EVALUATION)
    assert run.success and "context policy" not in metadata(run, "evaluate/answers")
    asked = [each for each in world.proxy.requests if each.model == "offline-careful"]
    assert asked == []
    statuses = world.rows(
        "SELECT status, count(DISTINCT item_id) AS n, any_value(turns_left_out) AS left_out "
        "FROM evaluate.answers WHERE model = 'careful' GROUP BY status ORDER BY ALL"
    )
    n_items = len(items(world))
    assert statuses == [
        {"status": status, "n": n_items, "left_out": None}
        for status in ("answered", "failed", "not_asked")
    ]
