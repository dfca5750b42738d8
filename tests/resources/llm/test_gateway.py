"""The gateway: asked once, durable before used, and a bad day of the provider loses nothing."""

import asyncio
import base64
import gc
import logging
import sqlite3
import threading
import time
from contextlib import closing

import httpx2
import openai
import pytest
from sqlalchemy.exc import SQLAlchemyError
from tenacity import Future, RetryCallState

from methods.prompts.messages import Image, Message, Text
from resources.images.store import ImageStore
from resources.llm import errors, progress
from resources.llm.gateway import COLLECT_AFTER, Gateway
from resources.llm.ledger import Ledger
from resources.llm.model_calls import AuthError
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import load_registry
from resources.llm.request import ChatRequest, Completion, Failure, request_key
from resources.mock_server.process import MockServerProcess
from tests.doubles.fault_server import FaultServer
from tests.doubles.one_colour import one_colour
from tests.doubles.openai_api import scripted
from tests.resources.llm.entries import change_entries, no_backoff

pytestmark = pytest.mark.slow

KEY = "sk-secret-4f9a1c7e2b8d"
MODELS = """
profiles:
  paid: {{writer: careful, judge: careful, evaluate: [careful]}}
  offline: {{writer: stand-in, judge: stand-in, evaluate: [stand-in]}}
models:
  careful:
    provider: openai
    model: offline-careful
    base_url: {url}
    api_key_env: PAID_KEY
    max_images: 2
    price: {{prompt: 1000000, completion: 10}}
    concurrency: {concurrency}
  other:
    provider: openai
    model: offline-careless
    base_url: {url}
    api_key_env: PAID_KEY
  nowhere: {{provider: openai, base_url: "http://127.0.0.1:9/v1"}}
  stand-in: {{provider: mock, model: offline-careful}}
"""


def make_gateway(folder, url: str, concurrency: int = 8, profile: str = "paid") -> Gateway:
    """A gateway whose provider is the server at `url`, everything else under `folder`."""
    path = folder / "models.yaml"
    path.write_text(MODELS.format(url=url, concurrency=concurrency))
    images = ImageStore(folder / "images")
    return Gateway(
        load_registry(path),
        profile,
        Ledger(folder / "ledger.sqlite"),
        images,
        launcher=MockServerProcess(),
    )


def spec_of(gateway: Gateway) -> ModelSpec:
    """The entry that questions are asked of."""
    return gateway.registry.model("careful")


def question(number: int = 0, model: str = "careful") -> ChatRequest:
    """A question; `number` makes it another one."""
    return ChatRequest(
        model=model,
        messages=(Message.from_text("user", f"Question {number}: which way is north?"),),
        prompt_version="test/question@12345678",
        params={"temperature": 0.0},
    )


def questions(n: int) -> list[ChatRequest]:
    return [question(number) for number in range(n)]


class Api:
    """The mock server, seen as a paid API whose bad days are made to order."""

    def __init__(self, server: FaultServer):
        self.url = server.base_url
        self._http = httpx2.Client(
            base_url=self.url.removesuffix("/v1"), trust_env=False, verify=False
        )
        self.queued = 0

    def stats(self) -> dict:
        return self._http.get("/stats").json()

    def calls(self) -> int:
        return self.stats()["calls"]

    def fail(self, kind: str = "status", count: int = 1, **fault) -> None:
        """The next `count` calls suffer a fault."""
        body = {"kind": kind, "count": count, **fault}
        self._http.post("/faults", json=body).raise_for_status()
        self.queued += count


@pytest.fixture(scope="module")
def server():
    with FaultServer() as running:
        yield running


@pytest.fixture
def api(server):
    seen = Api(server)
    before = seen.stats()["faults"]
    yield seen
    assert seen.stats()["faults"] - before == seen.queued, "every fault was to be suffered"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """A key, and no waiting but what a server asks for."""
    monkeypatch.setenv("PAID_KEY", KEY)
    monkeypatch.setattr(errors, "wait_random_exponential", no_backoff)


@pytest.fixture
def gateway(tmp_path, api) -> Gateway:
    return make_gateway(tmp_path, api.url)


def kept(gateway: Gateway) -> dict[str, str]:
    """Key -> answer, as a connection of nobody's reads it from the file."""
    with closing(sqlite3.connect(gateway.ledger.path)) as other:
        return dict(other.execute("SELECT key, response FROM calls"))


# Asked once


def test_an_answer_is_in_the_ledger_before_it_is_handed_out(gateway):
    async def ask_and_look(session, request):
        outcome = await session.complete(request)
        return outcome.text, kept(gateway).get(outcome.key)

    results, _ = gateway.map("s", questions(10), ask_and_look)

    assert len(results) == 10
    assert all(handed_out == on_disk is not None for handed_out, on_disk in results)


def test_an_answer_that_cannot_be_kept_is_not_handed_out(gateway):
    with closing(sqlite3.connect(gateway.ledger.path)) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON calls BEGIN SELECT RAISE(ABORT, 'full'); END"
        )

    with pytest.raises((ExceptionGroup, SQLAlchemyError)) as caught:
        gateway.ask("s", questions(1))

    assert "full" in repr(caught.value)


def test_the_same_question_ten_times_at_once_is_sent_once(gateway, api):
    before = api.calls()

    outcomes, counted = gateway.ask("s", [question(7)] * 10)

    assert api.calls() - before == 1
    assert len({outcome.text for outcome in outcomes}) == 1
    assert (counted.calls, counted.cache_hits) == (1, 9)
    assert sorted(outcome.cached for outcome in outcomes) == [False] + [True] * 9


def test_the_same_question_ten_times_at_once_fails_once(gateway, api):
    before = api.calls()
    api.fail(status=400)

    outcomes, counted = gateway.ask("s", [question(7)] * 10)

    assert api.calls() - before == 1
    assert {outcome.kind for outcome in outcomes} == {"bad_request"}
    assert counted.failures == {"bad_request": 10}


def test_garbage_is_looked_for_less_often_while_models_are_asked_and_no_longer_than_that(gateway):
    before = gc.get_threshold()

    async def work(calls, number):
        if number == 1:
            raise LookupError("It went wrong.")
        return gc.get_threshold()

    assert gateway.map("stage", [0], work)[0] == [(COLLECT_AFTER, *before[1:])]
    assert gc.get_threshold() == before
    with pytest.raises(LookupError):
        gateway.map("stage", [1], work)
    assert gc.get_threshold() == before


# No more at once than the model's entry says


def test_a_retry_keeps_its_place_so_that_a_bad_day_means_no_more_calls_at_once(tmp_path):
    with FaultServer(latency_ms=50) as server:
        api = Api(server)
        api.fail(status=503, count=8)

        outcomes, _ = make_gateway(tmp_path, api.url, concurrency=2).ask("s", questions(8))

        assert all(isinstance(outcome, Completion) for outcome in outcomes)
        assert api.calls() == 16
        assert api.stats()["max_in_flight"] == 2


# What is worth another try


def test_a_passing_trouble_is_tried_again_until_it_passes(gateway, api):
    before = api.calls()
    api.fail(status=409, count=2)

    (outcome,), counted = gateway.ask("s", [question()])

    assert isinstance(outcome, Completion)
    assert api.calls() - before == 3
    (call,) = gateway.ledger
    assert call.attempts == 3
    assert (counted.calls, counted.failures) == (1, {})


@pytest.mark.parametrize("value", ["86400", "Fri, 31 Dec 2100 00:00:00 GMT", "inf"])
def test_no_server_can_park_a_run(gateway, api, monkeypatch, value):
    monkeypatch.setattr(errors, "MAX_WAIT", 0.2)
    api.fail(status=429, retry_after=value)

    (outcome,), _ = gateway.ask("s", [question()])

    assert isinstance(outcome, Completion)


# A key that is not accepted


def test_answers_on_their_way_to_the_disk_when_the_key_is_refused_are_kept(gateway, api):
    answered = threading.Event()
    writer = sqlite3.connect(gateway.ledger.path, isolation_level=None, check_same_thread=False)

    async def work(session, request):
        if request.model == "other":
            while api.stats()["by_model"].get("offline-careful", 0) < before + 3:
                await asyncio.sleep(0.01)
            # By now the answers have come, and wait for the ledger, which somebody else holds.
            await asyncio.sleep(0.1)
            answered.set()
        return await session.complete(request)

    def let_go():
        answered.wait(30)
        time.sleep(0.1)
        writer.execute("ROLLBACK")

    before = api.stats()["by_model"].get("offline-careful", 0)
    api.fail(status=401, model="offline-careless")
    writer.execute("BEGIN IMMEDIATE")
    holder = threading.Thread(target=let_go)
    holder.start()
    with pytest.raises(AuthError):
        gateway.map("s", [question(0, "other"), *questions(3)], work)
    holder.join()
    writer.close()

    spec = spec_of(gateway)
    assert kept(gateway).keys() == {request_key(each.canonical(spec)) for each in questions(3)}


# What goes over the wire, and what a stranger may send back


@pytest.fixture
def stranger():
    with scripted() as api:
        yield api


@pytest.fixture
def strange(tmp_path, stranger) -> Gateway:
    """A gateway whose provider is the stranger."""
    return change_entries(make_gateway(tmp_path, stranger.url), attempts=2)


def stored_images(gateway: Gateway) -> list[str]:
    return [gateway.images.put(one_colour(colour)).image_id for colour in ("red", "blue")]


def test_text_and_images_go_out_in_the_order_they_are_given(strange, stranger):
    red, blue = stored_images(strange)
    parts = (Text("First"), Image(blue), Text("then"), Text("again"), Image(red), Text("Which?"))
    messages = (Message.from_text("system", "Role: expert."), Message("user", parts))

    strange.ask("s", [ChatRequest("careful", messages, "p@1", {"temperature": 0.5})])

    (body,) = stranger.received
    assert (body["model"], body["temperature"]) == ("offline-careful", 0.5)
    system, user = body["messages"]
    assert system == {"role": "system", "content": "Role: expert."}
    assert [part.get("text") for part in user["content"]] == [
        "First", None, "then", "again", None, "Which?",
    ]  # fmt: skip
    sent = [part["image_url"]["url"] for part in user["content"] if part["type"] == "image_url"]
    assert [base64.b64decode(url.removeprefix("data:image/png;base64,")) for url in sent] == [
        strange.images.read(blue),
        strange.images.read(red),
    ]


def test_the_ledger_holds_no_image_data_and_no_key(strange, stranger, tmp_path):
    red, blue = stored_images(strange)
    message = Message("user", (Text("Which?"), Image(red), Image(blue)))

    strange.ask("s", [ChatRequest("careful", (message,), "p@1")])

    assert stranger.keys == [f"Bearer {KEY}"], "the key is sent, and only sent"
    data = b"".join(path.read_bytes() for path in tmp_path.glob("ledger.sqlite*"))
    (call,) = strange.ledger
    for secret in (KEY, "base64", base64.b64encode(strange.images.read(red)).decode()[:40]):
        assert secret.encode() not in data
        assert secret not in repr(call)


def nested(depth: int) -> bytes:
    """So many lists inside each other."""
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize(
    "reply",
    [
        (b"<html>Our gateway is having a nap.</html>", "text/html"),
        (b"", "application/json"),
        (b"null", "application/json"),
        (b"[]", "application/json"),
        (b'"yes"', "application/json"),
        (b"{}", "application/json"),
        (b"\xff\xfe\xff", "application/json"),
        (b'{"choices": [{"index": 0}]}', "application/json"),
        (b'{"choices": [{"message": {"content": 7}}]}', "application/json"),
        (b'{"choices": [{"message": "x"}], "usage": {}}', "application/json"),
        (b'{"choices": %s}' % nested(973), "application/json"),
    ],
    ids=[
        *("html", "empty", "null", "list", "string", "object", "bytes", "bare", "number", "flat"),
        "deep",
    ],
)
def test_a_reply_that_is_no_completion_is_tried_again_and_stops_nothing(strange, stranger, reply):
    data, kind = reply
    stranger.replies(data, kind=kind)

    outcomes, counted = strange.ask("s", questions(2))

    assert {(type(each), each.kind) for each in outcomes} == {(Failure, "bad_response")}
    assert len(stranger.received) == 4 and counted.failures == {"bad_response": 2}
    assert kept(strange) == {}


@pytest.mark.parametrize("depth", [90, 970, 973, 976, 100_000])
def test_an_error_whose_details_are_nested_deeply_is_a_failure(strange, stranger, depth):
    body = b'{"error": {"message": "No.", "details": %s}}' % nested(depth)
    stranger.replies(body, 400)

    (outcome,), _ = strange.ask("s", [question()])

    assert isinstance(outcome, Failure) and outcome.kind == "bad_request"


@pytest.mark.parametrize("usage", [b"", b', "usage": {}', b', "usage": {"prompt_tokens": "many"}'])
def test_an_answer_whose_tokens_nobody_counted_is_kept_with_an_estimate(strange, stranger, usage):
    # Asked again, a server that does not count would not count again, and be paid again.
    stranger.replies(b'{"choices": [{"message": {"content": "North, I think."}}]' + usage + b"}")

    (outcome,), _ = strange.ask("s", [question(0)])

    assert isinstance(outcome, Completion) and len(stranger.received) == 1
    # Four characters a token, rounded up: "Question 0: which way is north?" has 31, the answer 15.
    assert (outcome.prompt_tokens, outcome.completion_tokens) == (8, 4)
    assert kept(strange) == {outcome.key: "North, I think."}


def test_an_answer_that_does_not_say_how_it_ended_is_kept_all_the_same(strange, stranger):
    stranger.answers(content="Fine.", finish_reason=None)

    (outcome,), _ = strange.ask("s", [question()])

    assert isinstance(outcome, Completion) and outcome.finish_reason == "unknown"
    assert kept(strange) == {outcome.key: "Fine."}


def test_half_a_character_in_an_answer_does_not_cost_the_others_theirs(strange, stranger):
    stranger.answers(content="broken \ud83d off, NUL \x00, whole \U0001f600")

    outcomes, _ = strange.ask("s", questions(3))

    assert {outcome.text for outcome in outcomes} == {"broken ? off, NUL \x00, whole \U0001f600"}
    assert kept(strange) == {outcome.key: outcome.text for outcome in outcomes}


def test_an_exhausted_account_stops_the_run_as_a_refused_key_does(strange, stranger):
    stranger.refuses("You exceeded your quota.", 429, code="insufficient_quota")

    with pytest.raises(AuthError, match="quota"):
        strange.ask("s", questions(300))

    assert len(stranger.received) <= 8, "those that were in flight with the first"


@pytest.mark.parametrize("filler", [0, 250, 255, 260, 265, 270])
def test_a_key_that_an_error_quotes_is_in_no_failure_and_no_log(strange, stranger, caplog, filler):
    caplog.set_level(logging.DEBUG)
    stranger.refuses(f"{'x' * filler} wrong: {KEY}", 400)

    (failure,), _ = strange.ask("s", [question()])

    assert isinstance(failure, Failure) and failure.kind == "bad_request"
    # Not even a part of it, where the sentence is cut.
    assert KEY[:8] not in failure.detail + caplog.text
    assert caplog.text, "the client's own log is what is looked through"


# What it came to


def test_usage_counts_calls_hits_losses_tokens_and_dollars(gateway, api):
    gateway.ask("s", [question(0)])
    api.fail(status=400)

    (lost,), first = gateway.ask("s", [question(9)])
    outcomes, counted = gateway.ask("s", [*questions(3), question(2)])

    assert isinstance(lost, Failure) and first.failures == {"bad_request": 1}
    assert (counted.calls, counted.cache_hits, counted.outcomes_of.total()) == (2, 2, 4)
    new = [outcomes[1], outcomes[2]]
    assert counted.prompt_tokens == sum(each.prompt_tokens for each in new) > 0
    assert counted.completion_tokens == sum(each.completion_tokens for each in new) > 0
    # A dollar a token asked, and a thousandth of a cent a token answered.
    expected = counted.prompt_tokens + counted.completion_tokens * 0.00001
    assert counted.cost_usd == pytest.approx(expected)
    first.add(counted)
    first.add(counted)
    assert (first.calls, first.cost_usd) == (4, pytest.approx(2 * expected)), "of several parts"
    spent = [call.cost_usd for call in gateway.ledger]
    assert sum(spent) == pytest.approx(expected + outcomes[0].cost_usd)


def test_the_ledger_says_who_was_asked_what_for_and_how_it_went(gateway):
    gateway.ask("dialogue.answers", [question()])

    (call,) = gateway.ledger
    assert (call.provider, call.model, call.stage) == (
        "openai",
        "offline-careful",
        "dialogue.answers",
    )
    assert call.request == question().canonical(spec_of(gateway))
    assert (call.prompt_version, call.finish_reason) == ("test/question@12345678", "stop")
    assert call.attempts == 1 and call.seconds >= 0 and call.created_at.endswith("+00:00")


def test_progress_is_said_item_by_item_but_not_more_often_than_bearable(gateway, api, monkeypatch):
    gateway.ask("s", [question(0)])
    api.fail(status=400, model="offline-careless")
    moments: list[progress.ProgressReport] = []
    requests = [*questions(3), question(0, "other")]

    gateway.ask("dialogue.answers", requests, moments.append)
    assert moments == [], "quicker than PROGRESS_SECONDS"

    monkeypatch.setattr(progress, "FIRST_SECONDS", 0)
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 0)
    api.fail(status=400, model="offline-careless")
    gateway.ask("dialogue.answers", requests, moments.append)
    lines = [moment.line() for moment in moments]
    assert [line.split(" done")[0] for line in lines] == [
        f"dialogue.answers: {number}/4" for number in range(1, 5)
    ]
    assert "0 calls, 3 from the ledger, 1 failed" in lines[-1]
    assert (
        " tokens, $0.0000, about 0 s left; the last attempt: The server answered 400: " in lines[-1]
    )


# The embedded default


def test_the_mock_server_starts_when_it_is_needed_whatever_proxy_is_set_and_stops(
    tmp_path, monkeypatch
):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy", "PAID_KEY"):
        monkeypatch.delenv(name, raising=False)
    gateway = make_gateway(tmp_path, "http://127.0.0.1:9/v1", profile="offline")
    assert gateway.launcher.pid is None

    (outcome,), _ = gateway.ask("s", [question(model="stand-in")])
    pid = gateway.launcher.pid
    gateway.ask("s", [question(1, "stand-in")])

    assert isinstance(outcome, Completion)
    assert pid is not None and gateway.launcher.pid == pid
    assert {(call.provider, call.model) for call in gateway.ledger} == {("mock", "offline-careful")}
    gateway.close()
    gateway.close()
    assert gateway.launcher.pid is None


# The errors by themselves


def error_of(status: int, **headers) -> openai.APIStatusError:
    request = httpx2.Request("POST", "http://x/v1")
    response = httpx2.Response(status, headers=headers, request=request)
    return openai.APIStatusError("No.", response=response, body=None)


def test_without_being_told_the_waits_are_drawn_and_grow(monkeypatch):
    monkeypatch.undo()

    def waits(attempt: int) -> list[float]:
        state = RetryCallState(None, None, (), {})
        state.attempt_number = attempt
        state.outcome = Future.construct(attempt, error_of(500), True)
        return [wait(state) for _ in range(200)]

    model = {"name": "any", "provider": "openai", "model": "any"}
    wait = errors.waits(ModelSpec.model_validate(model))

    assert len(set(waits(3))) > 1, "or all who failed at once come back at once"
    assert max(waits(1)) <= 0.5 < max(waits(5)) <= 30
    assert max(waits(50)) <= 30
