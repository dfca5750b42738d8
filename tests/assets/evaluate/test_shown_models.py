"""Models and judges on leaderboards: parts of a release, the archive, losses, who left the profile."""

from pathlib import Path
from typing import Any

import pytest

from assets.evaluate.archive import archived_judges, archived_models, kept_models, restore
from resources.llm.registry import Profile
from tests.assets.conftest import CopyWorld
from tests.assets.filled import put
from tests.assets.world import (
    ANY_ASSETS,
    ASKING,
    RANKING,
    SCORING,
    Row,
    World,
    check,
    made,
    metadata,
    sentence,
)

pytestmark = pytest.mark.slow

BASE = "evaluated"


N_TURNS = 24
"""Turns of the release's four dialogues."""


def shown(world: World) -> set[tuple[str, str]]:
    """Models and judges on the leaderboard."""
    assert world.score().success
    return leaderboard(world)


def evaluated_and_shown(world: World) -> set[tuple[str, str]]:
    assert world.run(ANY_ASSETS, assets=ASKING | SCORING).success
    return leaderboard(world)


def leaderboard(world: World) -> set[tuple[str, str]]:
    rows = world.rows("SELECT DISTINCT model, judge FROM evaluate.leaderboard")
    return {(row["model"], row["judge"]) for row in rows}


def archived(world: World, **config: Any) -> str:
    """The sentence of the action that archives."""
    run = world.run("archive_results", {"result_archive": {"config": config}})
    return str(run.output_for_node("result_archive")) if run.success else sentence(run)


def with_profile(world: World, **profile: Any) -> None:
    world.set_models({"second": {"model": "offline-obedient"}}, **profile)


def mark(world: World) -> str | None:
    """The mark of the one model that is ranked."""
    assert world.run(ANY_ASSETS, assets=RANKING).success
    (row,) = world.rows("SELECT DISTINCT model, mark, rank FROM evaluate.ranks")
    assert (row["model"], row["rank"]) == ("careful", 1)
    return row["mark"]


def test_a_run_with_a_limit_is_marked_until_a_run_without_asks_the_rest(released, copied, tmp_path):
    world = copied(released, tmp_path)
    world.set_models(evaluate=["careful"])
    limited = {"evaluate__answers": {"config": {"limit": 2}}}

    assert world.evaluate(config=limited).success
    (asked,) = world.rows("SELECT count(DISTINCT item_id) AS n FROM evaluate.answers")
    assert asked["n"] == 2
    assert mark(world) == "2 of 4 items were asked."

    calls = metadata(world.evaluate(), "evaluate/answers")
    assert (calls["calls"], calls["cache hits"]) == (N_TURNS / 2, N_TURNS / 2)
    assert metadata(world.evaluate(config=limited), "evaluate/answers")["calls"] == 0
    assert mark(world) is None, "what was answered stays"

    # Another identity is another server: all of its requests would be paid.
    world.set_models({"careful": {"identity": "another server"}}, evaluate=["careful"])
    calls = metadata(world.evaluate(config=limited), "evaluate/answers")
    assert (calls["calls"], calls["cache hits"]) == (N_TURNS / 2, 0)
    assert mark(world) == "2 of 4 items were asked."


def test_a_limit_also_holds_for_a_new_judge_and_loses_no_earlier_judgment(world: World) -> None:
    with_profile(world, judges=["judge", "second"], evaluate=["careful"])

    run = world.evaluate(config={"evaluate__answers": {"config": {"limit": 2}}})

    assert metadata(run, "evaluate/answers")["calls"] == 0
    assert metadata(run, "evaluate/judgments")["calls"] == N_TURNS / 2
    assert n_judged_turns(world) == {"judge": N_TURNS, "second": N_TURNS / 2}
    assert metadata(world.evaluate(), "evaluate/judgments")["calls"] == N_TURNS / 2
    assert n_judged_turns(world) == {"judge": N_TURNS, "second": N_TURNS}


def n_judged_turns(world: World) -> dict[str, int]:
    """Judged turns of the model careful by judge."""
    rows = world.rows(
        "SELECT judge, count(*) AS n FROM evaluate.judgments WHERE model = 'careful' GROUP BY 1"
    )
    return {row["judge"]: row["n"] for row in rows}


def test_an_archived_model_is_on_no_leaderboard_until_that_is_undone(world: World) -> None:
    n_answers = world.warehouse.count("evaluate.answers")

    assert archived(world, model="careless").startswith("Archived: careless. Run the job evaluate")
    assert world.run(ANY_ASSETS, assets=RANKING).success
    assert leaderboard(world) == {("careful", "judge")}
    (rank,) = world.rows("SELECT DISTINCT model, rank_high FROM evaluate.ranks")
    assert rank == {"model": "careful", "rank_high": 1}
    assert world.warehouse.count("evaluate.answers") == n_answers
    run = world.evaluate()
    assert "careless on" in metadata(run, "evaluate/answers")["not run"]

    assert archived(world, model="careless", undo=True).startswith("Shown again: careless.")
    archived(world, judge="judge")
    assert shown(world) == set(), "nobody else judged"
    archived(world, judge="judge", undo=True)

    world.run("ledger")
    (run,) = world.rows("SELECT DISTINCT run FROM ledger.calls WHERE stage = 'evaluate.answers'")
    assert archived(world, run_id=run["run"][:8], model="careful").startswith("Archived: careful")
    assert shown(world) == {("careless", "judge")}, "the other one is shown again"


def test_what_is_not_there_is_not_archived(world: World) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "Name a model (--model), a judge (--judge) or a run (--run)."),
        ({"model": "carefull"}, "No model carefull has results here; the nearest is careful."),
        ({"model": "careful", "undo": True}, "Nothing of this name is archived; archived: none."),
    ]
    for config, said in refused:
        assert archived(world, **config) == said


def test_what_left_the_profile_is_shown_only_when_asked_for_and_no_new_judge_is_paid_for_it(world):
    with_profile(world, judges=["judge", "second"], evaluate=["careful"])
    found = evaluated_and_shown(world)
    rows = world.rows(
        "SELECT model, count(*) AS n FROM evaluate.judgments WHERE judge = 'second' GROUP BY 1"
    )
    assert rows == [{"model": "careful", "n": N_TURNS}]
    assert found == {("careful", "judge"), ("careful", "second"), ("careful", "panel")}

    with_profile(world, judges=["second"], evaluate=["careful"])
    assert evaluated_and_shown(world) == {("careful", "second")}, "no panel of a judge that left"

    archived(world, model="careless", undo=True)
    archived(world, judge="judge", undo=True)
    assert evaluated_and_shown(world) == {
        *(("careful", judge) for judge in ("judge", "second", "panel")),
        ("careless", "judge"),
    }


PROFILE = Profile.model_validate({"writer": "w", "judges": ["j"], "evaluate": ["a"]})


def test_what_is_archived_on_a_release_or_of_a_judge_is_shown_elsewhere(empty_warehouse):
    blind = "no-images:a"
    keys = [("a", "", "r"), (blind, "", ""), ("b", "j", ""), ("b", "k", "r"), ("", "k", "r")]
    states = [(*key, "archived") for key in keys]
    states += [("not listed", "", "", "left the profile"), ("kept", "", "", "kept")]
    columns = ("model", "judge", "release_id", "state")
    rows = [dict(zip(columns, state, strict=True)) for state in states]
    put(empty_warehouse, {"evaluate.archive": rows})
    assert [archived_models(empty_warehouse, of) for of in "rs"] == [{"a", blind}, {blind}]
    assert archived_judges(empty_warehouse) == set()
    assert restore(empty_warehouse, PROFILE, "a", "", "r", "") == "a on r"
    assert restore(empty_warehouse, PROFILE, "a", "", "", "") == blind
    assert restore(empty_warehouse, PROFILE, "b", "k", "", "") == "b under the judge k on r"
    assert kept_models(empty_warehouse) == {blind, "kept"}, "of b what one judge says"


TABLES = ("answers", "judgments", "failed", "missing", "scores")
"""Four dialogues of six turns."""


@pytest.fixture
def re_asked(evaluated: World, copied: CopyWorld, tmp_path: Path) -> World:
    """Both models evaluated; whatever is asked now is re-asked."""
    made_here = copied(evaluated, tmp_path)
    made_here.forget_calls()
    return made_here


def tables(re_asked: World, model: str | None = None) -> dict[str, list[Row]]:
    """What evaluation has written, of one model or of all."""
    where = "" if model is None else f"WHERE model = '{model}'"
    return {name: re_asked.rows(f"FROM evaluate.{name} {where} ORDER BY ALL") for name in TABLES}


def test_a_model_that_had_rows_keeps_them_and_is_named_while_it_is_asked_and_away(re_asked):
    before = tables(re_asked)
    re_asked.proxy.refuse(lambda asked: asked.model == "offline-careful", 400, "out of luck")

    run = re_asked.run(ANY_ASSETS, assets=ASKING | SCORING)

    assert run.success
    (missing,) = re_asked.table("evaluate.missing")
    assert missing["model"] == "careful"
    assert missing["why"].startswith("20 not_asked, 4 bad_request; bad_request of ")
    assert missing["why"].endswith(": The server answered 400: out of luck")
    assert tables(re_asked) == {**before, "missing": [missing]}
    told = metadata(run, "evaluate/answers")
    assert (told["dagster/row_count"], told["rows of this run"]) == (2 * N_TURNS, N_TURNS)

    # A model that is no longer listed is no longer named.
    re_asked.set_models(evaluate=["careless"])
    assert re_asked.evaluate().success
    assert re_asked.table("evaluate.missing") == []
    re_asked.set_models()
    re_asked.proxy.heal()
    assert re_asked.evaluate().success
    assert tables(re_asked) == before, "nobody is missing any more"


def test_when_all_models_fail_the_step_fails_in_one_sentence_and_changes_nothing(re_asked):
    before = tables(re_asked)
    re_asked.proxy.refuse(lambda asked: asked.task != "judge", 400, "out of luck")

    run = re_asked.run(ANY_ASSETS, assets=ASKING | SCORING)

    assert not run.success
    assert sentence(run).startswith(
        "evaluate.answers keeps its earlier rows: careful lost 24 of 24 "
    )
    assert "(20 not_asked, 4 bad_request; bad_request of " in sentence(run)
    assert ": The server answered 400: out of luck), and at most 20% may be lost. " in sentence(run)
    assert {"evaluate/scores", "evaluate/leaderboard"} <= made(run), "it is made of what there is"
    assert tables(re_asked) == before
    assert [row["step"] for row in re_asked.table("evaluate.not_made")] == ["evaluate.answers"]
    assert not check(run, "evaluate/answers", "made").passed
    assert check(run, "evaluate/scores", "made").passed
