"""The ledger: what was answered once is there for good, whoever asked and whatever happens next."""

import asyncio
import gc
import multiprocessing
import resource
import sqlite3
import threading
import time
from contextlib import closing
from types import SimpleNamespace

import pytest

from methods.prompts.messages import Image, Message, Text
from resources.llm.ledger import Call, Ledger
from resources.llm.ledger import writer as ledger_writer
from resources.llm.ledger.calls import outcome_of
from resources.llm.ledger.writer import LedgerWriter
from resources.llm.model_spec import ModelSpec
from resources.llm.request import ChatRequest, Completion, Failure, request_key
from resources.migrations import StoreError, StoreUnavailable
from tests.resources.llm.entries import charges_of

pytestmark = [pytest.mark.usefixtures("stores_on"), pytest.mark.slow]


def call(number: int = 0, **changes) -> Call:
    """One answered call about one picture; `number` makes it another question."""
    request = ChatRequest(
        model="careful",
        messages=(Message("user", (Image("a" * 64), Text(f"Question {number}, où 字?"))),),
        prompt_version="mmdu/answers@12345678",
        params={"temperature": 0.0},
    ).canonical(ModelSpec(name="careful", provider="openai", model="gpt"))
    fields = {
        "key": request_key(request),
        "provider": "openai",
        "endpoint": "https://api.openai.com/v1",
        "model": "gpt",
        "prompt_version": "mmdu/answers@12345678",
        "stage": "dialogue.answers",
        "run": "run-1",
        "via": "live",
        "request": request,
        "response": f"Answer {number}: “here” 字 \x00 …",
        "reasoning": f"Thought {number} …",
        "outcome": "answered",
        "finish_reason": "stop",
        "prompt_tokens": 1000 + number,
        "completion_tokens": 10,
        "cost_usd": 0.0025,
        "seconds": 1.5,
        "attempts": 2,
        "created_at": "2026-01-01T00:00:00.000+00:00",
    }
    return Call(**fields | changes)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "not" / "there" / "ledger.sqlite")


def file_bytes(ledger: Ledger) -> bytes:
    return b"".join(path.read_bytes() for path in ledger.path.parent.iterdir())


def in_order(calls: list[Call]) -> list[Call]:
    """Calls in the order the ledger tells them."""
    return sorted(calls, key=lambda each: each.key)


def answers(calls: list[Call]) -> dict[str, Completion]:
    """What the ledger finds where these calls are in it."""
    return {each.key: outcome_of(each, cached=True) for each in calls}


# Adding and finding


def test_a_call_comes_back_as_it_was_added(ledger):
    ledger.add([call(0), call(1)])

    assert list(ledger) == list(Ledger(ledger.path)) == in_order([call(0), call(1)])
    assert ledger.find([call(1).key]) == answers([call(1)])
    assert Ledger(ledger.path).find([call(0).key, call(1).key]) == answers([call(0), call(1)])


def test_any_number_of_keys_can_be_looked_up_at_once(ledger):
    calls = [call(0)._replace(model="first"), *(call(number) for number in range(1, 1203))]
    ledger.add(calls)
    keys = [each.key for each in calls]

    assert ledger.find([*keys, call(9999).key]) == answers(calls)
    assert ledger.models_of(keys) == {"first", call(1).model}
    assert ledger.models_of(keys[:1]) == {"first"}
    assert ledger.models_of([call(9999).key]) == ledger.models_of([]) == set()


def test_the_first_answer_stands(ledger):
    ledger.add([call(0)])

    ledger.add([call(0, response="another answer", cost_usd=9.0), call(1)])
    ledger.add([call(2), call(2, response="another answer")])
    lost = call(1, cost_usd=5.0).as_charge("It was lost.")
    ledger.add([call(3), lost, call(0, cost_usd=7.0), call(4), call(3, cost_usd=8.0), call(5)])

    assert list(ledger) == in_order([call(number) for number in range(6)])
    # What the others cost is in the account all the same.
    assert [(each.key, each.cost_usd) for each in charges_of(ledger)] == [
        (call(0).key, 9.0),
        (call(2).key, 0.0025),
        (call(1).key, 5.0),
        (call(0).key, 7.0),
        (call(3).key, 8.0),
    ]


def test_what_is_added_meanwhile_does_not_disturb_who_reads_through(ledger):
    ledger.add([call(number) for number in range(20)])

    seen = 0
    for each in ledger:
        ledger.add([call(100 + seen, response=each.response)])
        seen += 1

    assert seen == 20 and len(ledger) == 40


def test_a_reply_that_is_kept_and_is_no_answer_is_found_as_a_failure(ledger):
    ledger.add([call(0, outcome="truncated", finish_reason="length")])

    found = ledger.find([call(0).key])[call(0).key]

    assert isinstance(found, Failure) and found.cached
    assert (found.kind, found.finish_reason, found.reasoning) == (
        *("truncated", "length", "Thought 0 …"),
    )
    assert "token_limit.tokens" in found.detail


# Durable


@pytest.mark.files_alone
def test_commits_are_flushed_and_readers_do_not_wait_for_writers(ledger):
    with ledger._store.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2, "FULL"

    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert ledger.find([call(0).key]) == {}


@pytest.mark.files_alone
def test_a_full_disk_is_an_error_and_what_was_kept_stays(ledger):
    ledger.add([call(0)])
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)

    def fill_the_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with pytest.raises(StoreError) as refused:
            ledger.add([call(number) for number in range(1, 1000)])
        sender.send(str(refused.value))

    writer = fork.Process(target=fill_the_disk)
    with receiver, sender:
        writer.start()
        assert receiver.poll(60)
        told = receiver.recv()
        writer.join(60)

    assert told.startswith(f"{ledger.path} cannot be used (") and "\n" not in told
    assert list(ledger) == [call(0)]


@pytest.mark.files_alone
def test_an_answer_that_nobody_waits_for_and_that_cannot_be_kept_is_no_further_error(ledger):
    refused, told = threading.Event(), list[object]()

    def refuse(calls):
        refused.wait(30)
        raise StoreError("The disk is full.")

    async def ask():
        asyncio.get_running_loop().set_exception_handler(lambda _loop, said: told.append(said))
        async with LedgerWriter(ledger) as writer:
            ledger.add = refuse
            adding = asyncio.create_task(writer.add(call(0)))
            await asyncio.sleep(0)
            adding.cancel()
            refused.set()
        with pytest.raises(StoreError, match="The disk is full"):
            await writer.usable()

    asyncio.run(ask())
    gc.collect()

    assert told == []


@pytest.mark.files_alone
def test_answers_on_their_way_when_a_stage_ends_with_an_error_are_kept(ledger):
    async def ask():
        async with LedgerWriter(ledger) as writer:
            adding = [asyncio.create_task(writer.add(call(number))) for number in range(3)]
            await asyncio.sleep(0)
            raise ZeroDivisionError(adding)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(ask())
    assert len(ledger) == 3


@pytest.mark.files_alone
def test_a_commit_that_a_database_refuses_while_it_is_away_is_tried_again(ledger, monkeypatch):
    commit, tries = ledger.add, []

    def away_once(calls):
        tries.append(calls)
        if len(tries) == 1:
            raise StoreUnavailable("The database is away.")
        commit(calls)

    async def ask():
        async with LedgerWriter(ledger) as writer:
            await writer.add(call(0))
            await writer.usable()

    monkeypatch.setattr(ledger, "add", away_once)
    asyncio.run(ask())
    assert list(ledger) == [call(0)] and len(tries) == 2


@pytest.mark.files_alone
def test_answers_that_come_soon_after_a_commit_are_the_next_one(ledger, monkeypatch):
    commits, rests, all_came = list[list[Call]](), list[float](), threading.Event()
    commit = ledger.add

    def kept(calls):
        commits.append(calls)
        commit(calls)

    def rest(seconds):
        rests.append(seconds)
        if len(rests) > 1:
            all_came.wait(30)

    async def ask():
        async with LedgerWriter(ledger) as writer:
            await writer.add(call(0))
            adding = [asyncio.create_task(writer.add(call(number))) for number in range(1, 5)]
            await asyncio.sleep(0)
            all_came.set()
            await asyncio.gather(*adding)

    monkeypatch.setattr(ledger, "add", kept)
    clock = SimpleNamespace(sleep=rest, monotonic=time.monotonic)
    monkeypatch.setattr(ledger_writer, "time", clock)
    asyncio.run(ask())

    assert commits == [[call(0)], [call(number) for number in range(1, 5)]]
    first, then = rests
    assert first == 0 and then <= ledger_writer.SPACING_SECONDS


# Requests


@pytest.mark.files_alone
def test_requests_are_packed_since_pages_repeat_in_them(ledger):
    longs = [{"messages": [f"{number}: " + "the same page " * 5000]} for number in range(20)]

    ledger.add([call(number, request=long) for number, long in enumerate(longs)])

    assert sorted(str(each.request) for each in ledger) == sorted(map(str, longs))
    # 20 requests of 70,000 characters are 1.4 MB as they are said.
    assert len(file_bytes(ledger)) < 200_000
