"""A dialogue whose third turn a server refuses: under `truncate` a shorter one is asked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assets.evaluate.candidates import ModelCandidate
from assets.evaluate.inference import PARAMS, AnswerRun, ItemAnswers, answer_item
from methods.evaluation.asking import ContextPolicy
from methods.evaluation.items import Item, Turn
from methods.mmdu import Mmdu
from resources.llm.model_calls import ModelCalls
from tests.doubles.odd_api import Asked, answering
from tests.resources.llm.entries import gateway_of

ITEM = Item(
    "i",
    tuple(Turn(n, f"{word} question?") for n, word in enumerate(("FIRST", "SECOND", "THIRD"), 1)),
)

REFUSALS: dict[str, tuple[int, Any]] = {
    "by code": (400, {"error": {"message": "No.", "code": "context_length_exceeded"}}),
    "in words": (400, {"error": {"message": "Input is too long for requested model."}}),
    "in another language": (400, {"msg": "输入长度超出模型上下文"}),
    "number of images": (400, {"error": {"message": "too many images: 24 > 20"}}),
    "inside a reply of status 200": (200, {"error": {"message": "Prompt too long", "code": 400}}),
    "in words that nobody knows": (400, {"error": {"message": "Gargle blaster overflow #7."}}),
    "without words": (422, ""),
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
