"""Requests that cannot be sent or that a model does not take: images, sizes and schemas."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from methods.prompts.messages import Image, Message, Text
from resources.llm.canary import FIRST_RESULTS, Canary
from resources.llm.ledger import Ledger
from resources.llm.ledger.batch_state import BatchState
from resources.llm.model_calls import WaitingForBatch
from resources.llm.request import ChatRequest, Failure, Outcome
from tests.doubles.batch_api import BatchServer
from tests.doubles.odd_api import Asked, answering, refusing
from tests.resources.llm.entries import AskingGateway, gateway_of, kinds, questions, spec_of

MISSING = "0" * 64
WITHOUT_IMAGE = ChatRequest("it", (Message("user", (Text("Who?"), Image(MISSING))),), "q@1")
TOO_LARGE = ChatRequest("it", (Message.from_text("user", "Why? " * 1000),), "q@1")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with BatchServer() as server:
        yield server.base_url


def limited(folder: Path, url: str, mode: str) -> AskingGateway:
    entry = {"base_url": url, "model": "offline-careful", "mode": mode, "max_request_bytes": 2000}
    return gateway_of(folder, {"it": entry})


def outcomes_of(folder: Path, url: str, mode: str, asked: list[ChatRequest]) -> list[Outcome]:
    """Their outcomes, from as many runs as it takes."""
    while True:
        try:
            return limited(folder, url, mode).ask("s", asked)[0]
        except WaitingForBatch:
            time.sleep(0.05)


@pytest.mark.parametrize("mode", ["live", "batch"])
def test_it_stops_no_other_request_and_its_failure_says_why(tmp_path, url, mode):
    first, second, third = questions(3)
    asked = [first, WITHOUT_IMAGE, second, TOO_LARGE, third]
    outcomes = outcomes_of(tmp_path, url, mode, asked)

    assert kinds(outcomes) == ["answered", "no_image", "answered", "too_long", "answered"]
    details = [each.detail for each in outcomes if isinstance(each, Failure)]
    assert MISSING in details[0] and "vlm-loom run build" in details[0]
    assert "max_request_bytes of it allows 2000" in details[1]
    assert len(list(Ledger(tmp_path / "ledger.sqlite"))) == 3

    outcomes_of(tmp_path, url, mode, [WITHOUT_IMAGE, TOO_LARGE])
    batches = BatchState(Ledger(tmp_path / "ledger.sqlite")).batches()
    assert bool(batches) == (mode == "batch") and all(batch.ended_at for batch in batches)


def with_images(n: int) -> list[ChatRequest]:
    return [
        ChatRequest("it", (Message("user", (Text(f"Picture {number}?"), Image(MISSING))),), "q@1")
        for number in range(n)
    ]


class NoImageNeeded:
    """Images that are not stored: any bytes do."""

    def are_at_hand(self, *_: object) -> bool:
        return True

    def jpeg_base64(self, *_: object) -> str:
        return "data:image/jpeg;base64,AAAA"


def gateway_without_store(folder: Path, **entry: object) -> AskingGateway:
    gateway = gateway_of(folder, {"it": entry})
    gateway.context.images = NoImageNeeded()  # type: ignore[assignment]
    return gateway


LLAMA = "image input is not supported - hint: you may need to provide the mmproj"


def refusing_part(part: bytes, message: str, status: int = 500) -> Callable[[Asked], None]:
    """Refuses requests in which this stands."""
    return refusing(status, message, lambda asked: part in asked.body)


def test_one_image_costs_one_request_and_the_texts_are_answered(tmp_path):
    with answering(refusing_part(b"image_url", LLAMA)) as api:
        gateway = gateway_without_store(tmp_path, base_url=api.url, concurrency=1)
        outcomes, usage = gateway.ask("s", [*with_images(40), *questions(40)])

    assert len(api.received) == 41 and usage.failures == {"text_only": 40}
    assert kinds(outcomes) == ["text_only"] * 40 + ["answered"] * 40
    first, *others = outcomes[:40]
    assert "set `max_images: 0` in the entry it" in first.detail
    assert all("Not sent." in each.detail for each in others)


def test_a_model_that_answered_an_image_loses_one_request(tmp_path):
    with answering(refusing_part(b"Picture 3?", LLAMA)) as api:
        gateway = gateway_without_store(tmp_path, base_url=api.url, concurrency=1)
        _, usage = gateway.ask("s", with_images(10))

    assert usage.failures == {"text_only": 1} and usage.calls == 9


@pytest.mark.parametrize("many_images", ["fail", "sample"])
def test_an_entry_that_declares_no_images_is_sent_none(tmp_path, many_images):
    with answering(Asked.says) as api:
        entry = {"base_url": api.url, "max_images": 0, "many_images": many_images}
        gateway = gateway_of(tmp_path, {"it": entry})
        outcomes, _ = gateway.ask("s", [*with_images(1), *questions(1)])

    assert kinds(outcomes) == ["text_only", "answered"] and len(api.received) == 1
    assert "max_images: 0" in outcomes[0].detail


def test_errors_for_images_do_not_stop_the_texts(tmp_path):
    """A server that fails at images in words that nobody knows pauses its images only."""
    with answering(refusing_part(b"image_url", "clip.cpp: assertion")) as api:
        entry = {"attempts": 50, "give_up_seconds": 1, "timeouts": {"whole": 0.9}}
        gateway = gateway_without_store(tmp_path, base_url=api.url, **entry)
        outcomes, _ = gateway.ask("s", [*questions(30), *with_images(5)])

    assert kinds(outcomes) == ["answered"] * 30 + ["server_error"] * 5


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
SHAPED = [replace(request, schema=SCHEMA) for request in questions(12)]
GRAMMAR = "Failed to parse grammar"


@pytest.mark.parametrize(
    ("fields", "is_sent"),
    [
        ({}, True),
        ({"structured_output": False}, False),
        ({"structured_output": True, "reasoning": "low"}, True),
        ({"reasoning": "low"}, False),
        ({"mode": "batch"}, False),
        ({"provider": "mock"}, False),
    ],
)
def test_the_schema_is_sent_unless_it_may_do_harm(fields, is_sent):
    assert spec_of(**fields).sends_schema() is is_sent
    # Answers of entries that do not say are found under their earlier keys.
    silent, off = (spec_of(structured_output=value) for value in (None, False))
    assert SHAPED[0].canonical(silent) == SHAPED[0].canonical(off)


def test_a_refused_schema_costs_one_more_request_and_is_counted(tmp_path):
    with answering(refusing_part(b"json_schema", GRAMMAR)) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 1}})
        first, _ = gateway.ask("s", SHAPED[:1])
        outcomes, usage = gateway.ask("s", SHAPED)

    assert kinds([*first, *outcomes]) == ["answered"] * 13
    # The first one twice; then each once without the schema, but for the first, which is cached.
    assert len(api.received) == 2 + 11
    assert usage.without_schema == 11 and usage.sent_again == 0
    refused = "answers without a JSON schema, which the server refused"
    assert usage.metadata()[refused] == 11


def test_another_schema_is_tried_by_itself(tmp_path):
    odd = replace(SHAPED[0], schema={"type": "string", "pattern": "a"})
    with answering(refusing_part(b"pattern", GRAMMAR, 400)) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 1}})
        gateway.ask("s", [odd])
        _, usage = gateway.ask("s", SHAPED[1:2])

    assert usage.without_schema == 0 and b"json_schema" in api.received[-1].body


def test_an_entry_that_wants_schemas_is_told_of_the_refusal(tmp_path):
    with answering(refusing_part(b"json_schema", GRAMMAR, 400)) as api:
        models = {"it": {"base_url": api.url, "structured_output": True}}
        gateway = gateway_of(tmp_path, models)
        (outcome,), _ = gateway.map("s", SHAPED[:1], lambda calls, each: calls.outcome_of(each))

    assert kinds([outcome]) == ["bad_parameter"]
    assert "set `structured_output: false`" in outcome.detail


@pytest.mark.parametrize(("structured", "is_named"), [(False, True), (True, False)])
def test_a_stage_that_is_lost_to_unparseable_replies_names_the_setting(structured, is_named):
    trial = Canary("s", spec_of(structured_output=structured))
    for _ in range(FIRST_RESULTS):
        trial.add(("wrong_numbering", "Q2 is missing."))

    assert trial.given_up is not None
    assert ("structured_output: true" in trial.given_up) is is_named
