"""What candidates send, for any benchmark and trial, and how a model was asked as part of who it is."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
import yaml

from assets.evaluate import item_limit
from assets.evaluate.candidates import (
    CandidateReply,
    ImportedPredictions,
    LetterBaselineOptions,
    candidates_of,
    exclusion_reason,
)
from assets.evaluate.inference import PARAMS, AnswerRun, answer_item
from assets.evaluate.item_limit import ItemLimit
from assets.evaluate.predictions import remove_predictions
from methods.evaluation.asking import AnswerRequest
from methods.evaluation.items import Item, Turn
from methods.evaluation.predictions import PredictionKey
from methods.mmbench import Mmbench
from methods.prompts.messages import Image, Message, Text
from resources.llm.registry import Registry, load_registry
from resources.llm.request import ChatRequest, Completion
from resources.warehouse import Warehouse
from tests.assets.evaluate.toy_benchmark import Toy
from tests.assets.filled import put

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


@pytest.fixture
def registry(tmp_path) -> Registry:
    path = tmp_path / "models.yaml"
    entry = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "weights"}
    models = {"local": entry, "warm": {**entry, "temperature": 0.7}}
    path.write_text(yaml.safe_dump({"profiles": {}, "models": models}))
    return load_registry(path)


def answering() -> Any:
    """Calls of models: A to everything."""
    completion = Completion("key", "The answer is A.", "stop", 1, 1, 0.0, False, None, "weights-2")
    return SimpleNamespace(complete=AsyncMock(return_value=completion), foresee=Mock())


def sent(calls: Any) -> list[ChatRequest]:
    return [call.args[0] for call in calls.complete.call_args_list]


def asked(
    registry: Registry, name: str, item: Item
) -> tuple[list[ChatRequest], list[dict[str, Any]]]:
    """The requests that a candidate sends about an item, and the rows of its answers."""
    calls = answering()
    (candidate,) = candidates_of([name], registry, ITEMS, PARAMS)
    run = AnswerRun(candidate, item)
    answered = asyncio.run(answer_item(calls, Toy(), run, "nobody", "fail"))  # type: ignore[arg-type]
    return sent(calls), answered.answers


def words(request: ChatRequest) -> str:
    return "".join(p.text for m in request.messages for p in m.parts if isinstance(p, Text))


def pictures(request: ChatRequest) -> list[str]:
    return [p.image_id for m in request.messages for p in m.parts if isinstance(p, Image)]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("local", ["picture-0"]), ("no-images:local", []), ("other-images:local", ["picture-1"])],
)
def test_every_pass_of_a_circular_item_goes_without_its_image(registry, name, shown):
    requests, rows = asked(registry, name, ITEMS[0])
    seeing, _ = asked(registry, "local", ITEMS[0])
    # A is right at first and wrong when the choices have moved on.
    assert [row["trial"] for row in rows] == ["shift-0", "shift-1"]
    assert [request.model for request in requests] == ["local", "local"]
    assert [pictures(request) for request in requests] == [shown, shown]
    assert [words(request) for request in requests] == [words(request) for request in seeing]
    assert {request.prompt_version for request in requests} == {Toy.answer_version}
    settings = dict(rows[0]["settings"])
    assert (settings["model"], settings["version"]) == ("weights", "weights-2")
    warm = dict(asked(registry, "warm", ITEMS[0])[1][0]["settings"])
    assert (settings["temperature"], warm["temperature"]) == ("0", "0.7")


def test_who_is_asked_and_who_runs_it_are_the_models_own(registry: Registry) -> None:
    made = candidates_of(NAMES, registry, ITEMS, PARAMS)
    assert [each.name for each in made] == NAMES
    assert [each.asks for each in made] == ["local"] * 3 + NAMES[3:]
    assert [each.provider for each in made] == ["openai"] * 3 + ["baseline"] * 2


def test_a_baseline_sends_nothing(registry: Registry) -> None:
    calls = answering()
    (baseline,) = candidates_of(["baseline:reference"], registry, ITEMS, PARAMS)
    ask = AnswerRequest("plain", 1, (Message.from_text("user", "Which colour?"),))
    reply = asyncio.run(baseline.answer(calls, ask, ITEMS[1], "v"))  # type: ignore[arg-type]
    # The text of the right choice.
    assert (sent(calls), reply.row["answer"]) == ([], "green")


def test_no_model_reads_a_letter_that_a_baseline_says_and_the_question_does_not_have(registry):
    """D is the most frequent letter of the right choices, and item-0 has three choices."""
    of_four = [
        replace(ITEMS[0], item_id=f"of-four-{n}", choices=("red", "green", "blue", "black"))
        for n in range(3)
    ]
    keyed = [replace(each, turns=(Turn(1, "Which?", (), {"key": "D"}),)) for each in of_four]
    calls = answering()
    (baseline,) = candidates_of(["baseline:most-frequent"], registry, [*keyed, *ITEMS], PARAMS)
    run = AnswerRun(baseline, ITEMS[0])
    answered = asyncio.run(answer_item(calls, Mmbench(), run, "nobody", "fail"))  # type: ignore[arg-type]
    assert (sent(calls), answered.n_lost) == ([], 0)
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
    calls = answering()
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
    assert len(sent(calls)) == len(answered[1].answers) > 0


def test_a_limit_is_of_each_release_of_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the first release the first item is asked about, and of the other one its only item."""
    of_release = {"first": ITEMS[:2], "other": ITEMS[1:2]}
    monkeypatch.setattr(item_limit, "items_of", lambda _, release_id: of_release[release_id])
    limit = ItemLimit(Mock(), 1, seed=0)
    releases = [SimpleNamespace(release_id=each, benchmark=Toy()) for each in of_release]
    asked = [
        [item.item_id for item in ITEMS[:2] if not limit.excludes(release, item.item_id)]
        for release in releases
    ]
    assert asked == [[ITEMS[0].item_id], [ITEMS[1].item_id]]


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


def predicted(text: str | None) -> CandidateReply:
    """The reply of imported predictions that have this text, or none."""
    texts = {} if text is None else {PredictionKey("item-0", "shift-0"): text}
    ask = AnswerRequest("shift-0", 1, (Message.from_text("user", "Which colour?"),))
    candidate = ImportedPredictions("file:mine", texts)
    return asyncio.run(candidate.answer(answering(), ask, ITEMS[0], "v"))  # type: ignore[arg-type]


SORRY = "I'm sorry, I cannot help with that."
UNSURE = "I can't see it clearly, so the answer is B."


@pytest.mark.parametrize(
    ("text", "status", "answer", "reasoning", "reason"),
    [
        ("The answer is A.", "answered", "The answer is A.", None, None),
        (SORRY, "refused", SORRY, None, None),
        ("抱歉，我无法回答这个问题。", "refused", "抱歉，我无法回答这个问题。", None, None),
        (UNSURE, "answered", UNSURE, None, None),
        (" \n", "empty", None, None, "empty"),
        (None, "failed", None, None, "no_prediction"),
        # A prediction counts without its reasoning.
        ("<think>It is A.</think>B", "answered", "B", "It is A.", None),
        ("<think>It is A. But", "reasoning_only", None, "It is A. But", "reasoning_only"),
        ("<|im_end|>", "empty", None, None, "empty"),
    ],
)
def test_what_a_file_lacks_is_a_miss_and_no_loss_of_a_run(text, status, answer, reasoning, reason):
    reply = predicted(text)
    found = [reply.row.get(name) for name in ("status", "answer", "reasoning", "call_key")]
    assert found == [status, answer, reasoning, None]
    assert (reply.loss and reply.loss[0]) == reason
    assert reply.final == (reason is not None)


def test_with_predictions_all_goes_that_was_made_of_them(empty_warehouse: Warehouse) -> None:
    place = {"item_id": "i", "turn": 1, "status": "refused", "stage": "answers"}
    rows = [
        {**place, "release_id": release_id, "model": f"file:{name}", "extractor": "rule"}
        for release_id, name in (("r", "mine"), ("r", "other"), ("s", "mine"))
    ]
    names = ("predictions", "prediction_files", "answers", "extractions", "failed", "missing")
    tables = [f"evaluate.{name}" for name in names]
    card = {"kind": "benchmark", "origin": "imported", "review_policy": "none"}
    cards = [{**card, "release_id": release_id} for release_id in "rs"]
    put(empty_warehouse, {"release.releases": cards, **dict.fromkeys(tables, rows)})
    assert remove_predictions(empty_warehouse, "r", "mine") == "r"
    left = "SELECT release_id || model AS place FROM {} ORDER BY ALL"
    for table in tables:
        found = empty_warehouse.sql(left.format(table))["place"].to_pylist()
        assert found == ["rfile:other", "sfile:mine"], table
