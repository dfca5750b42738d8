"""A model that loses too much keeps what it had, is named, and does not stop the others."""

import re
from pathlib import Path

import dagster as dg
import pytest

from methods.prompts.prompt_template import as_data
from tests.assets.conftest import CopyWorld
from tests.assets.world import (
    ANY_ASSETS,
    ASKING,
    SCORING,
    Row,
    World,
    check,
    made,
    metadata,
    sentence,
)
from tests.doubles.garbling_proxy import Asked
from tests.resources.llm.entries import no_backoff

pytestmark = pytest.mark.slow

TABLES = ("answers", "judgments", "failed", "missing", "scores")
N_TURNS = 24
"""Four dialogues of six turns."""
NOBODY_THERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def world(evaluated: World, copied: CopyWorld, tmp_path: Path) -> World:
    """Both models evaluated; whatever is asked now is re-asked."""
    made_here = copied(evaluated, tmp_path)
    made_here.forget_calls()
    return made_here


def tables(world: World, model: str | None = None) -> dict[str, list[Row]]:
    """What evaluation has written, of one model or of all."""
    where = "" if model is None else f"WHERE model = '{model}'"
    return {name: world.rows(f"FROM evaluate.{name} {where} ORDER BY ALL") for name in TABLES}


def models_of(world: World, table: str) -> dict[str, int]:
    """Number of rows of each model."""
    rows = world.rows(f"SELECT model, count(*) AS n FROM evaluate.{table} GROUP BY model")
    return {row["model"]: row["n"] for row in rows}


def test_a_model_whose_server_is_gone_is_named_and_the_other_is_evaluated(
    released: World, copied: CopyWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.llm.errors.wait_random_exponential", no_backoff)
    world = copied(released, tmp_path)
    world.set_models({"careful": {"base_url": NOBODY_THERE, "attempts": 2}})

    run = world.run(ANY_ASSETS, assets=ASKING | SCORING)

    assert run.success
    # The first turn of each dialogue was tried; the others need its answer.
    (missing,) = world.rows("FROM evaluate.missing")
    assert re.fullmatch(
        r"20 not_asked, 4 unreachable; unreachable of \S+: Nothing listens at 127.0.0.1:9: start the "
        r"server, or correct base_url of careful in models.yaml",
        missing["why"],
    )
    assert (missing["stage"], missing["model"], missing["asked"]) == ("answers", *["careful"] * 2)
    assert missing["n_lost"] == missing["n_turns"] == N_TURNS
    assert metadata(run, "evaluate/answers")["missing"] == (
        f"- `careful lost 24 of 24 turns on {missing['release_id']} "
        f"({missing['why']}), and at most 20% may be lost.`"
    )
    for table in ("answers", "judgments"):
        assert models_of(world, table) == {"careless": N_TURNS}, table
    assert models_of(world, "leaderboard").keys() == {"careless"}


def test_a_model_that_had_rows_keeps_them_and_is_named_while_it_is_asked_and_away(world):
    before = tables(world)
    world.proxy.refuse(lambda asked: asked.model == "offline-careful", 400, "out of luck")

    run = world.run(ANY_ASSETS, assets=ASKING | SCORING)

    assert run.success
    (missing,) = world.rows("FROM evaluate.missing")
    assert missing["model"] == "careful"
    assert missing["why"].startswith("20 not_asked, 4 bad_request; bad_request of ")
    assert missing["why"].endswith(": The server answered 400: out of luck")
    assert tables(world) == {**before, "missing": [missing]}
    told = metadata(run, "evaluate/answers")
    assert (told["dagster/row_count"], told["rows of this run"]) == (2 * N_TURNS, N_TURNS)

    # A model that is no longer listed is no longer named.
    world.set_models(evaluate=["careless"])
    assert world.evaluate().success
    assert world.rows("FROM evaluate.missing") == []
    world.set_models()
    world.proxy.heal()
    assert world.evaluate().success
    assert tables(world) == before, "nobody is missing any more"


def test_a_model_that_dies_midway_goes_on_where_it_was(world, monkeypatch):
    monkeypatch.setattr("resources.llm.errors.wait_random_exponential", no_backoff)
    world.set_models({"careful": {"attempts": 2}})
    before = tables(world)
    answered: list[str] = []

    def is_dead(asked: Asked) -> bool:
        if asked.model == "offline-careful" and len(answered) < 10:
            answered.append(asked.text)
            return False
        return asked.model == "offline-careful"

    world.proxy.refuse(is_dead, 503, "gone")
    answers = dg.AssetSelection.assets(["evaluate", "answers"])
    assert world.run(ANY_ASSETS, assets=answers).success
    (missing,) = world.rows("FROM evaluate.missing")
    assert (missing["model"], missing["n_lost"]) == ("careful", N_TURNS - len(answered))
    assert tables(world) == {**before, "missing": [missing]}

    world.proxy.heal()
    asked = len(world.proxy.requests)
    assert world.run(ANY_ASSETS, assets=answers).success
    assert len(world.proxy.requests) - asked == N_TURNS - len(answered)
    assert tables(world) == before


def test_when_all_models_fail_the_step_fails_in_one_sentence_and_changes_nothing(world):
    before = tables(world)
    world.proxy.refuse(lambda asked: asked.task != "judge", 400, "out of luck")

    run = world.run(ANY_ASSETS, assets=ASKING | SCORING)

    assert not run.success
    assert sentence(run).startswith(
        "evaluate.answers keeps its earlier rows: careful lost 24 of 24 "
    )
    assert "(20 not_asked, 4 bad_request; bad_request of " in sentence(run)
    assert ": The server answered 400: out of luck), and at most 20% may be lost. " in sentence(run)
    assert {"evaluate/scores", "evaluate/leaderboard"} <= made(run), "it is made of what there is"
    assert tables(world) == before
    assert [row["step"] for row in world.rows("FROM evaluate.not_made")] == ["evaluate.answers"]
    assert not check(run, "evaluate/answers", "made").passed
    assert check(run, "evaluate/scores", "made").passed


@pytest.mark.nightly
def test_a_judge_that_fails_for_half_of_all_turns_leaves_all_judgments_and_the_advice_works(world):
    before = tables(world)
    # The first three of six turns of each of four dialogues.
    references = world.rows(
        "SELECT reference FROM release.references JOIN release.current USING (release_id) "
        "WHERE name = 'mmdu' AND turn <= 3"
    )
    wanted = [f"<reference>{as_data(row['reference'])}</reference>" for row in references]
    world.proxy.rewrite(
        lambda asked: asked.task == "judge" and any(text in asked.text for text in wanted),
        "No grades today.",
    )
    run = world.run(ANY_ASSETS, assets=ASKING | SCORING)
    assert sentence(run).startswith(
        "evaluate.judgments keeps its earlier rows: careful lost 12 of 24 turns on "
    )
    assert "(12 no_dictionary; no_dictionary of " in sentence(run)
    assert "and at most 20% may be lost. " in sentence(run)
    assert {"evaluate/scores", "evaluate/leaderboard"} <= made(run)
    assert tables(world) == before

    # Run again it comes to the same at no cost: what could not be read is in the ledger.
    world.proxy.heal()
    asked = len(world.proxy.requests)
    judgments = dg.AssetSelection.assets(["evaluate", "judgments"])
    assert not world.run(ANY_ASSETS, assets=judgments).success
    assert len(world.proxy.requests) == asked
    # What the sentence says asks again for that, and for nothing that was read.
    advice = re.search(r"vlm-loom model re-ask --stage (\S+) --unread ", sentence(run))
    assert advice is not None
    n_unread = world.ledger.count_unread()["evaluate.judgments"]
    config = {"model_re_ask": {"config": {"stage": advice[1], "unread": True}}}
    assert world.run("re_ask", config).success
    assert world.run(ANY_ASSETS, assets=judgments).success
    assert len(world.proxy.requests) - asked == n_unread, "once each, without repairs"
    assert tables(world) == before
