"""Dialogues and questions that are too long for a model: what a policy sends, and scores name it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assets.evaluate.candidates import ModelCandidate
from assets.evaluate.inference import PARAMS, AnswerRun, ItemAnswers, answer_item
from assets.evaluate.judge import judge_version
from methods.benchmarks import BENCHMARKS
from methods.evaluation.asking import ContextPolicy
from methods.evaluation.items import Item, Turn
from methods.mmdu import Mmdu
from resources.llm.model_calls import ModelCalls
from tests.assets.conftest import CopyWorld
from tests.assets.evaluate.test_benchmark import N_TURNS
from tests.assets.world import ANY_ASSETS, ANY_LOSS_IN_EVALUATION, RANKING, World, metadata
from tests.doubles.odd_api import Asked, answering
from tests.resources.llm.entries import gateway_of

pytestmark = pytest.mark.slow


CONTEXT_TOKENS = 2000
"""Two pictures (765 each) and what is said of them, and no third one."""
SMALL_CONTEXT = {
    "context_tokens": CONTEXT_TOKENS,
    "image_tokens": {"base": 85, "tile": 170},
}
JUDGED = judge_version(BENCHMARKS["mmdu"], "shown")
OF_MODELS = "SELECT DISTINCT judge_version, model FROM evaluate.{} ORDER BY ALL"


@pytest.fixture(scope="module")
def day(released: World, copied: CopyWorld) -> World:
    """A world where `careless` was asked under `fail`, and then `careful` under `truncate`."""
    world = copied(released)
    world.set_models({"careful": SMALL_CONTEXT})
    assert world.evaluate("careless").success
    world.write_settings({"evaluate": {"answers": {"context_policy": "truncate"}}})
    assert world.evaluate("careful").success
    world.write_settings({})
    assert world.run(ANY_ASSETS, assets=RANKING).success
    return world


def test_no_turn_is_lost_and_each_says_how_many_were_left_out(day: World) -> None:
    rows = day.rows(
        "SELECT item_id, turn, status, turns_left_out, prompt_version FROM evaluate.answers "
        "WHERE model = 'careful' ORDER BY ALL"
    )
    assert len(rows) == len(day.items()) * N_TURNS
    assert {row["status"] for row in rows} == {"answered"}
    assert {row["prompt_version"] for row in rows} == {"dialogue@1 context=truncate"}
    # Nothing is missing before the third picture, and later turns begin with as much left out.
    for item in day.items():
        left_out = [row["turns_left_out"] or 0 for row in rows if row["item_id"] == item]
        assert left_out[0] == left_out[1] == 0 < left_out[-1]
        assert left_out == sorted(left_out)
    shortened = sum(row["turns_left_out"] is not None for row in rows)
    told = day.told("evaluate/answers")
    assert (told["shortened"], told["context policy"]) == (shortened, "mmdu: truncate")


def test_what_is_sent_tells_the_model_what_it_lacks(day: World) -> None:
    sent = [asked for asked in day.proxy.requests if asked.model == "offline-careful"]
    assert len(sent) == len(day.items()) * N_TURNS, "what is too long is not sent"
    told = [asked.texts[0] for asked in sent if "of this dialogue" in asked.texts[0]]
    assert len(told) == day.told("evaluate/answers")["shortened"] > 0
    assert all("Left out with" in text and "<image-1>" in text for text in told)


@pytest.mark.parametrize("table", ["observations", "scores", "leaderboard", "ranks"])
def test_scores_under_two_policies_stand_apart_and_name_the_policy(day: World, table: str) -> None:
    found = [tuple(row.values()) for row in day.rows(OF_MODELS.format(table))]
    assert found == [(JUDGED, "careless"), (f"{JUDGED} context=truncate", "careful")]
    assert day.table("evaluate.comparisons") == []


def test_under_fail_the_tail_is_not_asked_and_what_fits_is_not_paid_for_again(day, copied):
    world = copied(day)
    world.set_models({"careful": SMALL_CONTEXT})
    run = world.evaluate("careful", config=ANY_LOSS_IN_EVALUATION)
    assert run.success and "context policy" not in metadata(run, "evaluate/answers")
    asked = [each for each in world.proxy.requests if each.model == "offline-careful"]
    assert asked == []
    statuses = world.rows(
        "SELECT status, count(DISTINCT item_id) AS n, any_value(turns_left_out) AS left_out "
        "FROM evaluate.answers WHERE model = 'careful' GROUP BY status ORDER BY ALL"
    )
    n_items = len(world.items())
    assert statuses == [
        {"status": status, "n": n_items, "left_out": None}
        for status in ("answered", "failed", "not_asked")
    ]


ITEM = Item(
    "i",
    tuple(Turn(n, f"{word} question?") for n, word in enumerate(("FIRST", "SECOND", "THIRD"), 1)),
)
REFUSALS: dict[str, tuple[int, Any]] = {
    "by code": (400, {"error": {"message": "No.", "code": "context_length_exceeded"}}),
    "in words": (400, {"error": {"message": "Input is too long for requested model."}}),
    "inside a reply of status 200": (200, {"error": {"message": "Prompt too long", "code": 400}}),
    "in words that nobody knows": (400, {"error": {"message": "Gargle blaster overflow #7."}}),
}


def ask(folder: Path, answer: Callable[[Asked], None], policy: ContextPolicy) -> ItemAnswers:
    """What comes of the dialogue with a server that answers so."""

    async def work(calls: ModelCalls, run: AnswerRun) -> ItemAnswers:
        return await answer_item(calls, Mmdu(), run, "it", policy)

    with answering(answer) as api:
        gateway = gateway_of(folder, {"it": {"base_url": api.url, "attempts": 1}})
        spec = gateway.registry.model("it")
        asker = ModelCandidate("it", spec, PARAMS, lambda messages, _: messages)
        (answered,), _ = gateway.map("stage", [AnswerRun(asker, ITEM)], work)
    return answered


def refusing(status: int, body: Any) -> Callable[[Asked], None]:
    """A server that refuses all three turns together."""

    def answer(asked: Asked) -> None:
        if b"FIRST" in asked.body and b"THIRD" in asked.body:
            asked.send(json.dumps(body).encode(), status)
        else:
            asked.says("Blue boats.")

    return answer


def statuses(answered: ItemAnswers) -> list[tuple[str, int | None]]:
    return [(row["status"], row["turns_left_out"]) for row in answered.answers]


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_a_turn_that_is_refused_is_asked_again_without_the_oldest_turn(tmp_path, refusal):
    answered = ask(tmp_path, refusing(*refusal), "truncate")

    assert statuses(answered) == [("answered", None), ("answered", None), ("answered", 1)]
    assert answered.failed == [] and answered.n_lost == 0


def test_under_fail_the_turn_is_lost_and_says_what_the_server_said(tmp_path: Path) -> None:
    answered = ask(tmp_path, refusing(*REFUSALS["in words that nobody knows"]), "fail")

    assert statuses(answered) == [("answered", None), ("answered", None), ("failed", None)]
    assert "Gargle blaster overflow" in answered.failed[0]["detail"]


def test_what_no_shortening_helps_is_a_failed_turn(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        asked.send(b'{"error": "broken picture"}', 400) if b"SECOND" in asked.body else asked.says()

    answered = ask(tmp_path, answer, "truncate")

    assert [row["status"] for row in answered.answers] == ["answered", "failed", "not_asked"]
    assert answered.failed[0]["reason"] == "bad_request"
