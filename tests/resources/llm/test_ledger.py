"""The ledger: what was answered once is there for good, whoever asked and whatever happens next."""

import asyncio
import gc
import multiprocessing
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import SimpleNamespace

import pytest
from sqlalchemy.exc import IntegrityError

from resources.llm.ledger import Call, Ledger
from resources.llm.ledger import writer as ledger_writer
from resources.llm.ledger.calls import outcome_of
from resources.llm.ledger.writer import LedgerWriter
from resources.llm.request import Completion
from resources.migrations import StoreError, StoreUnavailable
from tests.doubles.file_size import files_of_at_most
from tests.resources.llm.entries import call, charge, charges_of

pytestmark = [pytest.mark.usefixtures("stores_on"), pytest.mark.slow]


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "not" / "there" / "ledger.sqlite")


def in_order(*numbers: int) -> list[Call]:
    """Calls in the order the ledger tells them."""
    return sorted(map(call, numbers), key=lambda each: each.key)


def answers(*calls: Call) -> dict[str, Completion]:
    """What the ledger finds where these calls are in it."""
    return {each.key: outcome_of(each, cached=True) for each in calls}


def test_any_number_of_keys_can_be_looked_up_at_once(ledger):
    calls = [call(0)._replace(model="first"), *map(call, range(1, 1203))]
    ledger.add(calls)
    keys = [each.key for each in calls]

    assert ledger.find([*keys, call(9999).key]) == answers(*calls)
    assert ledger.models_of(keys) == {"first", call(1).model}
    assert ledger.models_of(keys[:1]) == {"first"}
    assert ledger.models_of([call(9999).key]) == ledger.models_of([]) == set()


def test_the_first_answer_stands(ledger):
    ledger.add([call(0)])

    ledger.add([call(0, response="another answer", cost_usd=9.0), call(1)])
    ledger.add([call(2), call(2, response="another answer")])
    lost = call(1, cost_usd=5.0).as_charge("It was lost.")
    ledger.add([call(3), lost, call(0, cost_usd=7.0), call(4), call(3, cost_usd=8.0), call(5)])

    assert list(ledger) == list(Ledger(ledger.path)) == in_order(*range(6))
    # What the others cost is in the account all the same.
    costs = [(0, 9.0), (2, 0.0025), (1, 5.0), (0, 7.0), (3, 8.0)]
    charges = [(each.key, each.cost_usd) for each in charges_of(ledger)]
    assert charges == [(call(number).key, usd) for number, usd in costs]


def test_what_is_added_meanwhile_does_not_disturb_who_reads_through(ledger):
    ledger.add([call(number) for number in range(20)])

    seen = 0
    for each in ledger:
        ledger.add([call(100 + seen, response=each.response)])
        seen += 1

    assert seen == 20 and len(ledger) == 40


def test_what_was_charged_twice_is_there_twice_and_may_be_answered_yet(ledger):
    ledger.add([charge(0), charge(0)])
    ledger.add([charge(0, cost_usd=0.5)])
    assert ledger.find([call(0).key]) == {} and len(ledger) == 0
    ledger.add([call(0)])

    kept = [charge(0), charge(0), charge(0, cost_usd=0.5)]
    assert charges_of(ledger) == charges_of(Ledger(ledger.path)) == kept
    costs = "SELECT status, sum(cost_usd) FROM paid_calls GROUP BY 1 ORDER BY 1"
    with ledger._store.read() as connection:
        rows = [tuple(row) for row in connection.exec_driver_sql(costs)]
    assert rows == [("answered", 0.0025), ("lost", 0.505)]
    assert ledger.find([call(0).key])[call(0).key] == Completion(
        call(0).key, call(0).response, "stop", 1000, 10, 0.0025, True, "Thought 0 …"
    )


def test_what_runs_have_paid_is_for_answers_and_for_none(ledger):
    ledger.add([call(0, run="a", cost_usd=0.5), call(1, run="a", cost_usd=0.25)])
    ledger.add([charge(1, run="a", cost_usd=1.0), charge(2, run="b", cost_usd=2.0)])
    ledger.add([call(3, run="c", cost_usd=4.0)])

    assert ledger.cost_of(["a"]) == 1.75
    assert ledger.cost_of(["b", "a"]) == 3.75
    assert ledger.cost_of(["nobody"]) == ledger.cost_of([]) == 0


@pytest.mark.parametrize("lacking", [call(1, model=None), charge(1, model=None)])
def test_calls_and_charges_that_come_together_are_kept_together_or_not_at_all(ledger, lacking):
    with pytest.raises(IntegrityError, match="model"):
        ledger.add([call(0), charge(0), lacking])

    assert list(ledger) == [] and charges_of(ledger) == []


def test_the_mean_answer_is_that_of_a_stage_and_a_model(ledger):
    assert ledger.mean_completion("dialogue.answers", "gpt") is None
    ledger.add([call(0, completion_tokens=10), call(1, completion_tokens=25)])
    ledger.add([call(2, completion_tokens=1000, stage="dialogue.questions")])
    ledger.add([call(3, completion_tokens=2000, model="mini"), charge(4, completion_tokens=3000)])

    assert ledger.mean_completion("dialogue.answers", "gpt") == 17.5
    assert ledger.mean_completion("dialogue.answers", "mini") == 2000
    assert ledger.mean_completion("dialogue.questions", "mini") is None


def test_threads_use_one_ledger_at_once_and_one_of_them_may_close_it(ledger):
    def add_and_find(number: int) -> bool:
        ledger.add([call(number)])
        ledger.close()
        return call(number).key in ledger.find([call(number).key])

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(add_and_find, range(20)))
    assert len(ledger) == 20


def test_a_child_process_does_not_go_on_with_its_parents_connection(ledger):
    ledger.add([call(0)])
    mine = connection_of(ledger)

    def in_child() -> None:
        ledger.add([call(1)])
        assert connection_of(ledger) is not mine and len(ledger) == 2

    child = multiprocessing.get_context("fork").Process(target=in_child)
    child.start()
    child.join(60)

    assert child.exitcode == 0 and connection_of(ledger) is mine
    ledger.add([call(2)])
    assert list(ledger) == in_order(0, 1, 2)


def connection_of(ledger: Ledger) -> object:
    with ledger._store.read() as connection:
        return connection.connection.driver_connection


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
    with files_of_at_most(50_000), pytest.raises(StoreError) as refused:
        ledger.add([call(number) for number in range(1, 1000)])

    told = str(refused.value)
    assert told.startswith(f"{ledger.path} cannot be used (") and "\n" not in told
    assert list(ledger) == [call(0)]


@pytest.mark.files_alone
async def test_an_answer_that_nobody_waits_for_and_that_cannot_be_kept_is_no_further_error(ledger):
    refused, told = threading.Event(), list[object]()

    def refuse(calls):
        refused.wait(30)
        raise StoreError("The disk is full.")

    asyncio.get_running_loop().set_exception_handler(lambda _loop, said: told.append(said))
    async with LedgerWriter(ledger) as writer:
        ledger.add = refuse
        adding = asyncio.create_task(writer.add(call(0)))
        await asyncio.sleep(0)
        adding.cancel()
        refused.set()
    with pytest.raises(StoreError, match="The disk is full"):
        await writer.usable()
    del writer, adding
    gc.collect()

    assert told == []


@pytest.mark.files_alone
async def test_answers_on_their_way_when_a_stage_ends_with_an_error_are_kept(ledger):
    with pytest.raises(ZeroDivisionError):
        async with LedgerWriter(ledger) as writer:
            adding = [asyncio.create_task(writer.add(call(number))) for number in range(3)]
            await asyncio.sleep(0)
            raise ZeroDivisionError(adding)
    assert len(ledger) == 3


@pytest.mark.files_alone
async def test_a_commit_that_a_database_refuses_while_it_is_away_is_tried_again(
    ledger, monkeypatch
):
    commit, tries = ledger.add, []

    def away_once(calls):
        tries.append(calls)
        if len(tries) == 1:
            raise StoreUnavailable("The database is away.")
        commit(calls)

    monkeypatch.setattr(ledger, "add", away_once)
    async with LedgerWriter(ledger) as writer:
        await writer.add(call(0))
        await writer.usable()
    assert list(ledger) == [call(0)] and len(tries) == 2


@pytest.mark.files_alone
async def test_answers_that_come_soon_after_a_commit_are_the_next_one(ledger, monkeypatch):
    commits, rests, all_came = list[list[Call]](), list[float](), threading.Event()
    commit = ledger.add

    def kept(calls):
        commits.append(calls)
        commit(calls)

    def rest(seconds):
        rests.append(seconds)
        if len(rests) > 1:
            all_came.wait(30)

    monkeypatch.setattr(ledger, "add", kept)
    clock = SimpleNamespace(sleep=rest, monotonic=time.monotonic)
    monkeypatch.setattr(ledger_writer, "time", clock)
    async with LedgerWriter(ledger) as writer:
        await writer.add(call(0))
        adding = [asyncio.create_task(writer.add(call(number))) for number in range(1, 5)]
        await asyncio.sleep(0)
        all_came.set()
        await asyncio.gather(*adding)

    assert commits == [[call(0)], [call(number) for number in range(1, 5)]]
    first, then = rests
    assert first == 0 and then <= ledger_writer.SPACING_SECONDS


@pytest.mark.files_alone
def test_requests_are_packed_since_pages_repeat_in_them(ledger):
    longs = [{"messages": [f"{number}: " + "the same page " * 5000]} for number in range(20)]

    ledger.add([call(number, request=long) for number, long in enumerate(longs)])

    assert sorted(str(each.request) for each in ledger) == sorted(map(str, longs))
    # 20 requests of 70,000 characters are 1.4 MB as they are said.
    assert sum(path.stat().st_size for path in ledger.path.parent.iterdir()) < 200_000
