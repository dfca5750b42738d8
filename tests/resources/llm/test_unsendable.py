"""Requests that cannot be sent cost themselves alone: an image is missing, or the body is too large."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from methods.prompts.messages import Image, Message, Text
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.ledger.batch_state import BatchState
from resources.llm.model_calls import WaitingForBatch
from resources.llm.request import ChatRequest, Completion, Failure, Outcome
from tests.doubles.batch_api import BatchServer
from tests.resources.llm.loopback import gateway_of, questions

MISSING = "0" * 64
WITHOUT_IMAGE = ChatRequest("it", (Message("user", (Text("Who?"), Image(MISSING))),), "q@1")
TOO_LARGE = ChatRequest("it", (Message.from_text("user", "Why? " * 1000),), "q@1")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with BatchServer() as server:
        yield server.base_url


def gateway(folder: Path, url: str, mode: str) -> Gateway:
    entry = {"base_url": url, "model": "offline-careful", "mode": mode, "max_request_bytes": 2000}
    return gateway_of(folder, {"it": entry})


def outcomes_of(folder: Path, url: str, mode: str, asked: list[ChatRequest]) -> list[Outcome]:
    """Their outcomes, from as many runs as it takes."""
    while True:
        try:
            return gateway(folder, url, mode).ask("s", asked)[0]
        except WaitingForBatch:
            time.sleep(0.05)


def kinds(outcomes: list[Outcome]) -> list[str]:
    return [each.kind if isinstance(each, Failure) else "answered" for each in outcomes]


@pytest.mark.parametrize("mode", ["live", "batch"])
def test_it_stops_no_other_request_and_its_failure_says_why(
    tmp_path: Path, url: str, mode: str
) -> None:
    first, second, third = questions(3)
    asked = [first, WITHOUT_IMAGE, second, TOO_LARGE, third]
    outcomes = outcomes_of(tmp_path, url, mode, asked)

    assert kinds(outcomes) == ["answered", "no_image", "answered", "too_long", "answered"]
    details = [each.detail for each in outcomes if isinstance(each, Failure)]
    assert MISSING in details[0] and "vlm-loom run build" in details[0]
    assert "max_request_bytes of it allows 2000" in details[1]
    assert len(list(Ledger(tmp_path / "ledger.sqlite"))) == 3


@pytest.mark.parametrize("mode", ["live", "batch"])
def test_it_is_sent_by_the_next_run_once_it_can_be(tmp_path: Path, url: str, mode: str) -> None:
    assert kinds(outcomes_of(tmp_path, url, mode, [TOO_LARGE])) == ["too_long"]
    allowed = gateway(tmp_path, url, mode)
    models = allowed.registry.models
    models["it"] = models["it"].model_copy(update={"max_request_bytes": 10_000})
    try:
        outcomes = allowed.ask("s", [TOO_LARGE])[0]
    except WaitingForBatch:
        outcomes = outcomes_of(tmp_path, url, mode, [TOO_LARGE])

    assert isinstance(outcomes[0], Completion)


def test_no_batch_is_left_open_for_what_was_not_sent(tmp_path: Path, url: str) -> None:
    outcomes_of(tmp_path, url, "batch", [WITHOUT_IMAGE, *questions(2), TOO_LARGE])
    outcomes_of(tmp_path, url, "batch", [WITHOUT_IMAGE, TOO_LARGE])
    state = BatchState(Ledger(tmp_path / "ledger.sqlite"))

    assert state.batches(still_open=True) == []
    assert all(batch.ended_at for batch in state.batches())
