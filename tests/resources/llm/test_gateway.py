"""The gateway: asked once, durable before used, and a bad day of the provider loses nothing."""

import asyncio
import base64
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from tenacity import Future, RetryCallState

from methods.prompts.messages import Image, Message, Text
from resources.images.store import ImageStore
from resources.llm import errors, progress
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.model_calls import AuthError
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import load_registry
from resources.llm.request import ChatRequest, Completion, Failure
from resources.mock_server.process import MockServerProcess
from tests.doubles.odd_api import Asked, answering
from tests.doubles.one_colour import one_colour
from tests.doubles.openai_api import ScriptedApi, scripted
from tests.resources.llm.loopback import ask, gateway_of, questions

pytestmark = pytest.mark.slow

KEY = "sk-secret-4f9a1c7e2b8d"
PRICE = {"prompt": 1_000_000, "completion": 10}


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with scripted() as running:
        yield running


@pytest.fixture
def gateway(tmp_path: Path, api: ScriptedApi, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    monkeypatch.setenv("PAID_KEY", KEY)
    entry = {"base_url": api.url, "api_key_env": "PAID_KEY", "price": PRICE, "attempts": 2}
    return gateway_of(tmp_path, {"it": {**entry, "model": "eyes-1"}, "other": entry})


def kept(gateway: Gateway) -> dict[str, str]:
    """Key -> answer, as a connection of nobody's reads it from the file."""
    with closing(sqlite3.connect(gateway.ledger.path)) as other:
        return dict(other.execute("SELECT key, response FROM calls"))


# Asked once


def test_an_answer_is_in_the_ledger_before_it_is_handed_out(gateway: Gateway) -> None:
    async def ask_and_look(session: Any, request: ChatRequest) -> tuple[str, str | None]:
        outcome = await session.complete(request)
        return outcome.text, kept(gateway).get(outcome.key)

    results, _ = gateway.map("s", questions(10), ask_and_look)

    assert results == [("Fine.", "Fine.")] * 10


def test_the_same_question_ten_times_at_once_is_sent_once(
    gateway: Gateway, api: ScriptedApi
) -> None:
    outcomes, counted = gateway.ask("s", questions(1) * 10)

    assert len(api.received) == 1
    assert (counted.calls, counted.cache_hits) == (1, 9)
    assert sorted(outcome.cached for outcome in outcomes) == [False] + [True] * 9


def test_the_same_question_ten_times_at_once_fails_once(gateway: Gateway, api: ScriptedApi) -> None:
    api.refuses("No.", 400)

    outcomes, counted = gateway.ask("s", questions(1) * 10)

    assert len(api.received) == 1
    assert {outcome.kind for outcome in outcomes} == {"bad_request"}
    assert counted.failures == {"bad_request": 10}


def test_a_retry_keeps_its_place_so_that_a_bad_day_means_no_more_calls_at_once(
    tmp_path: Path,
) -> None:
    lock, n_here, n_received, most = threading.Lock(), 0, 0, 0

    def answer(asked: Asked) -> None:
        nonlocal n_here, n_received, most
        with lock:
            n_here += 1
            n_received += 1
            most = max(most, n_here)
            is_down = n_received <= 8
        time.sleep(0.05)
        with lock:
            n_here -= 1
        asked.send(b"{}", 503) if is_down else asked.says()

    with answering(answer) as server:
        outcomes = ask(gateway_of(tmp_path, {"it": {"base_url": server.url, "concurrency": 2}}), 8)

    assert all(isinstance(outcome, Completion) for outcome in outcomes)
    assert (n_received, most) == (16, 2)


def test_answers_on_their_way_to_the_disk_when_the_key_is_refused_are_kept(
    tmp_path: Path, api: ScriptedApi
) -> None:
    answered = threading.Event()
    with answering(lambda asked: asked.send(b"{}", 401)) as refusing:
        gateway = gateway_of(
            tmp_path, {"it": {"base_url": api.url}, "other": {"base_url": refusing.url}}
        )
        writer = sqlite3.connect(gateway.ledger.path, isolation_level=None, check_same_thread=False)

        async def work(session: Any, request: ChatRequest) -> object:
            if request.model == "other":
                while len(api.received) < 3:
                    await asyncio.sleep(0.01)
                # By now the answers have come, and wait for the ledger, which somebody else holds.
                await asyncio.sleep(0.1)
                answered.set()
            return await session.complete(request)

        def let_go() -> None:
            answered.wait(30)
            time.sleep(0.1)
            writer.execute("ROLLBACK")

        writer.execute("BEGIN IMMEDIATE")
        holder = threading.Thread(target=let_go)
        holder.start()
        with pytest.raises(AuthError):
            gateway.map("s", [*questions(1, "other"), *questions(3)], work)
        holder.join()
        writer.close()

    assert list(kept(gateway).values()) == ["Fine."] * 3


# What a stranger may send back


def test_the_ledger_holds_no_image_data_and_no_key(
    gateway: Gateway, api: ScriptedApi, tmp_path: Path
) -> None:
    image_id = gateway.images.put(one_colour("red")).image_id
    message = Message("user", (Text("Which?"), Image(image_id)))

    gateway.ask("s", [ChatRequest("it", (message,), "p@1")])

    assert api.keys == [f"Bearer {KEY}"], "the key is sent, and only sent"
    data = b"".join(path.read_bytes() for path in tmp_path.glob("ledger.sqlite*"))
    (call,) = gateway.ledger
    for secret in (KEY, "base64", base64.b64encode(gateway.images.read(image_id)).decode()[:40]):
        assert secret.encode() not in data
        assert secret not in repr(call)


@pytest.mark.parametrize("depth", [90, 970, 973, 976, 100_000])
def test_an_error_whose_details_are_nested_deeply_is_a_failure(
    gateway: Gateway, api: ScriptedApi, depth: int
) -> None:
    nested = b"[" * depth + b"]" * depth
    api.replies(b'{"error": {"message": "No.", "details": %s}}' % nested, 400)

    (outcome,) = ask(gateway)

    assert isinstance(outcome, Failure) and outcome.kind == "bad_request"


@pytest.mark.parametrize("filler", [0, 250, 255, 260, 265, 270])
def test_a_key_that_an_error_quotes_is_in_no_failure_and_no_log(
    gateway: Gateway, api: ScriptedApi, caplog: pytest.LogCaptureFixture, filler: int
) -> None:
    caplog.set_level(logging.DEBUG)
    api.refuses(f"{'x' * filler} wrong: {KEY}", 400)

    (failure,) = ask(gateway)

    assert isinstance(failure, Failure) and failure.kind == "bad_request"
    # Not even a part of it, where the sentence is cut.
    assert KEY[:8] not in failure.detail + caplog.text
    assert caplog.text, "the client's own log is what is looked through"


# What it came to


def test_usage_counts_calls_hits_losses_tokens_and_dollars(
    gateway: Gateway, api: ScriptedApi
) -> None:
    gateway.ask("s", questions(1))
    api.refuses("No.", 400)
    _, first = gateway.ask("s", questions(2))
    api.says("Fine.")
    _, counted = gateway.ask("s", [*questions(3), questions(3)[2]])

    assert (first.calls, first.cache_hits, first.failures) == (0, 1, {"bad_request": 1})
    assert (counted.calls, counted.cache_hits, counted.outcomes_of.total()) == (2, 2, 4)
    # The server counts ten tokens asked and five answered: a dollar, and a hundredth of a mill each.
    assert (counted.prompt_tokens, counted.completion_tokens) == (20, 10)
    assert counted.cost_usd == pytest.approx(20.0001)
    first.add(counted)
    first.add(counted)
    assert (first.calls, first.cost_usd) == (4, pytest.approx(40.0002)), "of several parts"
    assert sum(call.cost_usd for call in gateway.ledger) == pytest.approx(3.00002 + 20.0001)


def test_the_ledger_says_who_was_asked_what_for_and_how_it_went(
    gateway: Gateway, api: ScriptedApi
) -> None:
    (request,) = questions(1)
    gateway.ask("dialogue.answers", [request])

    (call,) = gateway.ledger
    assert (call.provider, call.model, call.stage) == ("openai", "eyes-1", "dialogue.answers")
    assert call.request == request.canonical(gateway.registry.model("it"))
    assert (call.prompt_version, call.finish_reason, call.attempts) == ("q@1", "stop", 1)
    assert call.seconds >= 0 and call.created_at.endswith("+00:00")


def test_progress_is_said_item_by_item_but_not_more_often_than_bearable(
    gateway: Gateway, api: ScriptedApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway.ask("s", questions(3))
    api.refuses("No.", 400)
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


def test_the_mock_server_starts_when_it_is_needed_whatever_proxy_is_set_and_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "models.yaml"
    path.write_text(
        "profiles: {offline: {writer: it, judge: it, evaluate: [it]}}\n"
        "models: {it: {provider: mock, model: offline-careful}}"
    )
    ledger, images = Ledger(tmp_path / "ledger.sqlite"), ImageStore(tmp_path / "images")
    launcher = MockServerProcess()
    gateway = Gateway(load_registry(path), "offline", ledger, images, launcher=launcher)
    assert launcher.pid is None

    (outcome,) = ask(gateway)
    pid = launcher.pid
    ask(gateway, 2)

    assert isinstance(outcome, Completion)
    assert pid is not None and launcher.pid == pid
    assert {(call.provider, call.model) for call in ledger} == {("mock", "offline-careful")}
    gateway.close()
    gateway.close()
    assert launcher.pid is None


# The waits by themselves


def waits(attempt: int, n: int = 200, **headers: str) -> list[float]:
    """Seconds before the attempt after this one, which the server refused with these headers."""
    spec = ModelSpec.model_validate({"name": "any", "provider": "openai", "model": "any"})
    wait = errors.waits(spec)
    request = httpx2.Request("POST", "http://x/v1")
    response = httpx2.Response(429, headers=headers, request=request)
    error = openai.APIStatusError("No.", response=response, body=None)
    state = RetryCallState(None, None, (), {})  # type: ignore[arg-type]
    state.attempt_number = attempt
    state.outcome = Future.construct(attempt, error, True)
    return [wait(state) for _ in range(n)]


def test_without_being_told_the_waits_are_drawn_and_grow() -> None:
    assert len(set(waits(3))) > 1, "or all who failed at once come back at once"
    assert max(waits(1)) <= 0.5 < max(waits(5)) <= 30
    assert max(waits(50)) <= 30


@pytest.mark.parametrize("value", ["86400", "Fri, 31 Dec 2100 00:00:00 GMT"])
def test_no_server_can_park_a_run(value: str) -> None:
    assert waits(1, 1, **{"retry-after": value}) == [errors.MAX_WAIT]
    assert max(waits(1, **{"retry-after": "inf"})) <= 0.5
