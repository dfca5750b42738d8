"""What candidates send, with plain replies in the place of a provider's: any benchmark, any trial."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml

from assets.evaluate.candidates import (
    CandidateReply,
    ImportedPredictions,
    LetterBaselineOptions,
    candidates_of,
    exclusion_reason,
)
from assets.evaluate.inference import PARAMS, AnswerRun, answer_item
from methods.evaluation.asking import AnswerRequest
from methods.evaluation.items import Item, Turn
from methods.evaluation.predictions import PredictionKey
from methods.mmbench import Mmbench
from methods.prompts.messages import Image, Message, Text
from resources.llm.registry import Registry, load_registry
from resources.llm.request import ChatRequest, Completion
from tests.assets.evaluate.toy_benchmark import Toy

NAMES = ["local", "no-images:local", "other-images:local", "baseline:reference", "baseline:empty"]
ITEMS = [
    Item(
        f"item-{number}",
        (Turn(1, f"<ImageHere> Which colour is <image-1> in {number}?", (1,), {"key": key}),),
        (f"picture-{number}",),
        ("red", "green", "blue"),
        labels={"n_choices": "3"},
    )
    for number, key in enumerate("AB")
]


class Calls:
    """Answers A to everything, and keeps what it is sent."""

    def __init__(self) -> None:
        self.sent: list[ChatRequest] = []

    async def complete(self, request: ChatRequest, *, can_be_shorter: bool) -> Completion:
        """The reply to a request."""
        self.sent.append(request)
        return self._completion()

    def foresee(self, answer_key: str | None, request: Callable[[], ChatRequest]) -> None:
        """Nothing is foreseen."""

    def _completion(self) -> Completion:
        return Completion(
            f"key-{len(self.sent)}", "The answer is A.", "stop", 1, 1, 0.0, cached=False
        )


@pytest.fixture
def registry(tmp_path) -> Registry:
    path = tmp_path / "models.yaml"
    entry = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "weights"}
    path.write_text(yaml.safe_dump({"profiles": {}, "models": {"local": entry}}))
    return load_registry(path)


def asked(
    registry: Registry, name: str, item: Item
) -> tuple[list[ChatRequest], list[dict[str, Any]]]:
    """The requests that a candidate sends about an item, and the rows of its answers."""
    calls = Calls()
    (candidate,) = candidates_of([name], registry, ITEMS, PARAMS)
    run = AnswerRun(candidate, item)
    answered = asyncio.run(answer_item(calls, Toy(), run, "nobody", "fail"))  # type: ignore[arg-type]
    return calls.sent, answered.answers


def words(request: ChatRequest) -> str:
    return "".join(p.text for m in request.messages for p in m.parts if isinstance(p, Text))


def pictures(request: ChatRequest) -> list[str]:
    return [p.image_id for m in request.messages for p in m.parts if isinstance(p, Image)]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("local", ["picture-0"]), ("no-images:local", []), ("other-images:local", ["picture-1"])],
)
def test_every_pass_of_a_circular_item_goes_without_its_image(registry, name, shown):
    sent, rows = asked(registry, name, ITEMS[0])
    seeing, _ = asked(registry, "local", ITEMS[0])
    # A is right at first and wrong when the choices have moved on.
    assert [row["trial"] for row in rows] == ["shift-0", "shift-1"]
    assert [request.model for request in sent] == ["local", "local"]
    assert [pictures(request) for request in sent] == [shown, shown]
    assert [words(request) for request in sent] == [words(request) for request in seeing]
    assert {request.prompt_version for request in sent} == {Toy.answer_version}


def test_who_is_asked_and_who_runs_it_are_the_models_own(registry: Registry) -> None:
    made = candidates_of(NAMES, registry, ITEMS, PARAMS)
    assert [each.name for each in made] == NAMES
    assert [each.asks for each in made] == ["local"] * 3 + NAMES[3:]
    assert [each.provider for each in made] == ["openai"] * 3 + ["baseline"] * 2


def test_a_baseline_sends_nothing(registry: Registry) -> None:
    calls = Calls()
    (baseline,) = candidates_of(["baseline:reference"], registry, ITEMS, PARAMS)
    ask = AnswerRequest("plain", 1, (Message.from_text("user", "Which colour?"),))
    reply = asyncio.run(baseline.answer(calls, ask, ITEMS[1], "v"))  # type: ignore[arg-type]
    # The text of the right choice.
    assert (calls.sent, reply.row["answer"]) == ([], "green")


def test_no_model_reads_a_letter_that_a_baseline_says_and_the_question_does_not_have(registry):
    """D is the most frequent letter of the right choices, and item-0 has three choices."""
    of_four = [
        replace(ITEMS[0], item_id=f"of-four-{n}", choices=("red", "green", "blue", "black"))
        for n in range(3)
    ]
    keyed = [replace(each, turns=(Turn(1, "Which?", (), {"key": "D"}),)) for each in of_four]
    calls = Calls()
    (baseline,) = candidates_of(["baseline:most-frequent"], registry, [*keyed, *ITEMS], PARAMS)
    run = AnswerRun(baseline, ITEMS[0])
    answered = asyncio.run(answer_item(calls, Mmbench(), run, "nobody", "fail"))  # type: ignore[arg-type]
    assert (calls.sent, answered.n_lost) == ([], 0)
    assert [(row["extractor"], row["value"]) for row in answered.extractions] == [("rule", "Z")]


ONE_GROUP = [replace(each, group_id="g") for each in ITEMS]


@pytest.mark.parametrize(
    ("name", "reason", "sentence"),
    [
        ("other-images:local", "no_other_images", "No other item of the release has an image to"),
        ("baseline:swapped-reference", "no_other_item", "No item of another group than that of"),
    ],
)
@pytest.mark.parametrize("items", [ITEMS[:1], ONE_GROUP])
def test_without_an_item_of_another_group_an_answer_is_lost_and_nobody_is_asked(
    registry: Registry, items: list[Item], name: str, reason: str, sentence: str
) -> None:
    calls = Calls()
    lacking, other = candidates_of([name, "local"], registry, items, PARAMS)
    answered = [
        asyncio.run(answer_item(calls, Toy(), AnswerRun(each, items[0]), "nobody", "fail"))  # type: ignore[arg-type]
        for each in (lacking, other)
    ]
    assert [(row["status"], row["answer"]) for row in answered[0].answers] == [("failed", None)]
    (lost,) = answered[0].failed
    assert (lost["asked"], lost["reason"]) == (name, reason)
    assert lost["detail"].startswith(sentence)
    assert (answered[0].n_lost, answered[1].n_lost) == (1, 0)
    # The requests are those of the model itself.
    assert len(calls.sent) == len(answered[1].answers) > 0


def test_why_a_baseline_is_not_run() -> None:
    dialogue = replace(ITEMS[0], choices=())
    held_out = [replace(each, turns=(Turn(1, "Which?", ()),)) for each in ITEMS]
    no_choice = "it answers with a letter, and this is not a multiple-choice benchmark"
    for name in ("baseline:random", "baseline:most-frequent"):
        assert exclusion_reason(name, ITEMS, LetterBaselineOptions()) is None
        assert exclusion_reason(name, [dialogue], LetterBaselineOptions()) == no_choice
    assert exclusion_reason("baseline:random", held_out, LetterBaselineOptions()) is None
    assert exclusion_reason("baseline:most-frequent", held_out, LetterBaselineOptions()) == (
        "this workspace does not have the right answers"
    )
    assert exclusion_reason("local", [dialogue], LetterBaselineOptions()) is None


SORRY = "I'm sorry, I cannot help with that."
UNSURE = "I can't see it clearly, so the answer is B."


@pytest.mark.parametrize(
    ("text", "status", "answer", "reason"),
    [
        ("The answer is A.", "answered", "The answer is A.", None),
        (SORRY, "refused", SORRY, None),
        ("抱歉，我无法回答这个问题。", "refused", "抱歉，我无法回答这个问题。", None),
        (UNSURE, "answered", UNSURE, None),
        (" \n", "empty", None, "empty"),
        (None, "failed", None, "no_prediction"),
    ],
)
def test_what_a_file_lacks_is_a_miss_and_no_loss_of_a_run(text, status, answer, reason):
    reply = predicted(text)
    assert (reply.row["status"], reply.row["answer"]) == (status, answer)
    assert reply.row["call_key"] is None
    assert (reply.loss and reply.loss[0]) == reason
    assert reply.final == (reason is not None)


def predicted(text: str | None) -> CandidateReply:
    """The reply of imported predictions that have this text, or none."""
    texts = {} if text is None else {PredictionKey("item-0", "shift-0"): text}
    ask = AnswerRequest("shift-0", 1, (Message.from_text("user", "Which colour?"),))
    candidate = ImportedPredictions("file:mine", texts)
    return asyncio.run(candidate.answer(Calls(), ask, ITEMS[0], "v"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>It is A.</think>B", ("answered", "B", "It is A.")),
        ("<think>It is A. But the mane", ("reasoning_only", None, "It is A. But the mane")),
        ("<|im_end|>", ("empty", None, None)),
    ],
)
def test_a_prediction_counts_without_its_reasoning(text, expected):
    reply = predicted(text)
    assert (reply.row["status"], reply.row["answer"], reply.row["reasoning"]) == expected
    assert reply.final == (expected[1] is None)
