"""The gateway: asked once, durable before used, and a bad day of the provider loses nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from tenacity import Future, RetryCallState

from resources.llm import errors, progress
from resources.llm.request import ChatRequest
from tests.doubles.openai_api import ScriptedApi
from tests.resources.llm.entries import AskingGateway, gateway_of, questions, spec_of

pytestmark = pytest.mark.slow

PRICE = {"prompt": 1_000_000, "completion": 10}
REFUSAL = b'{"error": {"message": "No."}}'


@pytest.fixture
def gateway(tmp_path: Path, api: ScriptedApi) -> AskingGateway:
    entry = {"base_url": api.url, "price": PRICE, "attempts": 2}
    return gateway_of(tmp_path, {"it": {**entry, "model": "eyes-1"}, "other": entry})


def test_an_answer_is_in_the_ledger_before_it_is_handed_out(gateway):
    async def ask_and_look(session: Any, request: ChatRequest) -> tuple[str, str | None]:
        outcome = await session.complete(request)
        with closing(sqlite3.connect(gateway.ledger.path)) as other:  # nobody's connection
            kept = dict(other.execute("SELECT key, response FROM calls"))
        return outcome.text, kept.get(outcome.key)

    results, _ = gateway.map("s", questions(10), ask_and_look)

    assert results == [("Fine.", "Fine.")] * 10


def test_the_same_question_ten_times_at_once_is_sent_once(gateway, api):
    api.says("Fine.")
    outcomes, counted = gateway.ask("s", questions(1) * 10)

    assert len(api.received) == 1
    assert (counted.calls, counted.cache_hits, counted.outcomes_of.total()) == (1, 9, 10)
    assert (counted.prompt_tokens, counted.completion_tokens) == (10, 5)
    assert sorted(outcome.cached for outcome in outcomes) == [False] + [True] * 9

    api.replies(REFUSAL, 400)
    _, counted = gateway.ask("s", questions(1, "other") * 10)
    assert len(api.received) == 2 and counted.failures == {"bad_request": 10}


def test_the_ledger_says_who_was_asked_what_for_and_how_it_went(gateway, api):
    (request,) = questions(1)
    gateway.ask("dialogue.answers", [request])

    (call,) = gateway.ledger
    assert (call.provider, call.model, call.stage) == ("openai", "eyes-1", "dialogue.answers")
    assert call.request == request.canonical(gateway.registry.model("it"))
    assert (call.prompt_version, call.finish_reason, call.attempts) == ("q@1", "stop", 1)
    assert call.seconds >= 0 and call.created_at.endswith("+00:00")


def test_progress_is_said_item_by_item_but_not_more_often_than_bearable(gateway, api, monkeypatch):
    gateway.ask("s", questions(3))
    api.replies(REFUSAL, 400)
    moments: list[progress.ProgressReport] = []
    requests = [*questions(3), *questions(1, "other")]

    gateway.ask("dialogue.answers", requests, moments.append)
    assert moments == [], "quicker than PROGRESS_SECONDS"

    monkeypatch.setattr(progress, "FIRST_SECONDS", 0)
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 0)
    gateway.ask("dialogue.answers", requests, moments.append)
    lines = [moment.line() for moment in moments]
    assert [line.split(" done")[0] for line in lines] == [
        f"dialogue.answers: {number}/4" for number in range(1, 5)
    ]
    assert "0 calls, 3 from the ledger, 1 failed" in lines[-1]
    assert "$0.0000, about 0 s left; the last attempt: The server answered 400: " in lines[-1]


def waits(attempt: int, n: int = 200, **headers: str) -> list[float]:
    """Seconds before the attempt after this one, which the server refused with these headers."""
    wait = errors.waits(spec_of())
    request = httpx2.Request("POST", "http://x/v1")
    response = httpx2.Response(429, headers=headers, request=request)
    error = openai.APIStatusError("No.", response=response, body=None)
    state = RetryCallState(None, None, (), {})  # type: ignore[arg-type]
    state.attempt_number = attempt
    state.outcome = Future.construct(attempt, error, True)
    return [wait(state) for _ in range(n)]


def test_without_being_told_the_waits_are_drawn_and_grow():
    assert len(set(waits(3))) > 1, "or all who failed at once come back at once"
    assert max(waits(1)) <= 0.5 < max(waits(5)) <= 30
    assert max(waits(50)) <= 30
    # No server can park a run.
    for value in ("86400", "Fri, 31 Dec 2100 00:00:00 GMT"):
        assert waits(1, 1, **{"retry-after": value}) == [errors.MAX_WAIT]
    assert max(waits(1, **{"retry-after": "inf"})) <= 0.5
