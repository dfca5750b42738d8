"""Requests that cannot be sent cost themselves alone: an image is missing, or the body is too large."""

import json
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
from tests.doubles.odd_api import Asked, answering
from tests.resources.llm.loopback import gateway_of, questions

MISSING = "0" * 64
WITHOUT_IMAGE = ChatRequest("it", (Message("user", (Text("Who?"), Image(MISSING))),), "q@1")
TOO_LARGE = ChatRequest("it", (Message.of("user", "Why? " * 1000),), "q@1")


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
def test_where_none_can_be_sent_the_stage_ends_at_once(tmp_path: Path, url: str, mode: str) -> None:
    outcomes, usage = gateway(tmp_path, url, mode).ask("s", [WITHOUT_IMAGE, TOO_LARGE])

    assert kinds(outcomes) == ["no_image", "too_long"] and usage.calls == 0


def test_what_is_longer_than_what_the_server_refused_is_not_sent_in_this_run(
    tmp_path: Path,
) -> None:
    def answer(asked: Asked) -> None:
        refused = {"message": "No.", "code": "context_length_exceeded"}
        if len(asked.body) > 1_000:
            asked.send(json.dumps({"error": refused}).encode(), 400)
        else:
            asked.says()

    def ask_all(*texts: str) -> list[Outcome]:
        asked = [ChatRequest("it", (Message.of("user", text),), "q@1") for text in texts]
        return [asking.ask("s", [each])[0][0] for each in asked]

    with answering(answer) as api:
        asking = gateway_of(tmp_path, {"it": {"base_url": api.url}})
        # 2,000 letters are refused. 7,999 others may be fewer tokens: they are sent. 8,000 are not, nor
        # are the refused ones with another after them.
        outcomes = ask_all("a" * 2_000, "b" * 7_999, "c" * 8_000, "a" * 2_001, "e" * 500)
        n_sent = [len(api.received)]
        # 2,600 letters of three bytes each are fewer bytes: sent. In another run everything is.
        assert kinds(ask_all("\u4e2d" * 2_600)) == ["too_long"]
        n_sent.append(len(api.received))
        asking = gateway_of(tmp_path, {"it": {"base_url": api.url}})
        assert kinds(ask_all("d" * 9_000)) == ["too_long"]
        n_sent.append(len(api.received))

    assert kinds(outcomes) == ["too_long"] * 4 + ["answered"]
    assert n_sent == [3, 4, 5]
    detail = next(each.detail for each in outcomes[2:] if isinstance(each, Failure))
    assert detail.startswith(
        "The server refused a shorter prompt as too long in this run: set context_"
    )


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
