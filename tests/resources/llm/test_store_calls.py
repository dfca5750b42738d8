"""A store that waits for its server does not stop the event loop."""

import asyncio
import gc
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from resources.llm import request_locks
from resources.llm.budget import Budget, BudgetReached
from resources.llm.budget_store import ChainBudget
from resources.llm.ledger import Ledger
from resources.llm.request_locks import RequestLocks
from resources.llm.store_calls import StoreCalls
from resources.migrations import StoreUnavailable


class Slow:
    """A store on a server that answers when it is told to."""

    may_wait = True

    def __init__(self, store: object) -> None:
        self.store = store
        self.calls, self.answers = StoreCalls(may_wait=True), threading.Event()
        self.answers.set()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: object) -> Any:
            assert self.answers.wait(10)
            return getattr(self.store, name)(*given)

        return call


@pytest.fixture
def slow() -> Slow:
    """Locks that nobody else holds."""
    return Slow(Mock(take=Mock(return_value=True)))


@pytest.fixture
def locks(slow: Slow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RequestLocks:
    monkeypatch.setattr(request_locks, "open_locks", lambda path: slow)
    return RequestLocks(tmp_path / "ledger.sqlite")


@pytest.fixture
def row(tmp_path: Path) -> Iterator[Slow]:
    """The row of a budget."""
    with closing(Ledger(tmp_path / "ledger.sqlite")) as ledger:
        slow = Slow(ChainBudget(tmp_path / "limits.sqlite", ledger, "run"))
        yield slow
        slow.answers.set()
        slow.calls.close()
        slow.store.close()


@pytest.fixture
def budget(row: Slow) -> Budget:
    return Budget(10.0, row)


async def a_while(n: int = 5) -> None:
    for _ in range(n):
        await asyncio.sleep(0.01)


async def test_a_file_is_called_directly_and_a_server_in_a_thread():
    here = threading.get_ident()
    of_file, of_server = StoreCalls(may_wait=False), StoreCalls(may_wait=True)

    assert await of_file.call(threading.get_ident) == here
    assert await of_server.call(threading.get_ident) != here
    of_server.close()


def test_calls_that_were_begun_are_made_in_order_also_after_the_end_of_the_loop():
    answers, made = threading.Event(), list[str]()
    calls = StoreCalls(may_wait=True)

    async def work() -> None:
        calls.later(lambda: answers.wait(10))
        call = calls.call(lambda: made.append("cancelled before it began"))
        cancelled = asyncio.create_task(call)
        await asyncio.sleep(0)
        cancelled.cancel()
        calls.later(lambda: made.append("nobody waited"))

    asyncio.run(work())
    assert not made
    answers.set()
    calls.close()
    assert made == ["cancelled before it began", "nobody waited"]


def test_an_error_whose_caller_was_cancelled_is_not_logged(caplog):
    answers = threading.Event()
    calls = StoreCalls(may_wait=True)

    def fail() -> None:
        assert answers.wait(10)
        raise StoreUnavailable("The server is away.")

    async def work() -> None:
        calling = asyncio.create_task(calls.call(fail))
        await asyncio.sleep(0)
        calling.cancel()
        calls.later(fail)
        await asyncio.sleep(0)
        answers.set()
        await calls.call(int)

    asyncio.run(work())
    calls.close()
    gc.collect()
    assert caplog.records == []


async def test_host_names_are_looked_up_while_every_store_waits():
    answers = threading.Event()
    all_stores = [StoreCalls(may_wait=True) for _ in range(40)]
    for calls in all_stores:
        calls.later(lambda: answers.wait(10))
    loop = asyncio.get_running_loop()
    await asyncio.wait_for(loop.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM), 5)
    answers.set()
    for calls in all_stores:
        calls.close()


async def test_other_tasks_go_on_while_a_lock_waits_for_its_server(locks, slow):
    async def ask() -> None:
        async with locks.hold("a" * 64):
            assert slow.store.take.called and not slow.store.release.called

    slow.answers.clear()
    asking = asyncio.create_task(ask())
    await a_while()
    assert not asking.done() and not slow.store.take.called
    slow.answers.set()
    await asking
    await a_while()

    assert slow.store.release.call_args == slow.store.take.call_args
    locks.close()


async def test_a_lock_that_comes_after_its_asker_was_cancelled_is_given_back(locks, slow):
    async def hold() -> None:
        async with locks.hold("a" * 64):
            raise AssertionError("nobody waits for it")

    slow.answers.clear()
    holding = asyncio.create_task(hold())
    await asyncio.sleep(0.01)
    holding.cancel()
    await asyncio.gather(holding, return_exceptions=True)
    slow.answers.set()

    locks._calls.close()
    assert slow.store.take.called
    assert slow.store.release.call_args == slow.store.take.call_args


async def test_calls_that_ask_a_slow_row_together_reserve_no_more_than_there_is(row, budget):
    row.answers.clear()
    asking = [asyncio.create_task(budget.reserve("it", 4.0)) for _ in range(4)]
    await a_while()
    assert not any(each.done() for each in asking)
    row.answers.set()
    await a_while(20)
    assert sum(each.done() for each in asking) == 2
    for _ in range(4):
        budget.settle(4.0, 1.0)
        await a_while()
    async with asyncio.timeout(5):
        await asyncio.gather(*asking)

    row.calls.close()
    assert budget.spent_usd == 4 and row.store.read() == (4, 0)


@pytest.mark.parametrize("cost", [0.0, 4.0, 8.0])
async def test_what_is_settled_while_a_slow_row_is_asked_counts(row, budget, cost):
    await budget.reserve("it", 8.0)
    row.answers.clear()
    second = asyncio.create_task(budget.reserve("it", 4.0))
    await a_while()
    budget.settle(8.0, cost)
    row.answers.set()

    async with asyncio.timeout(5):
        if cost <= 6:
            await second
        else:
            with pytest.raises(BudgetReached):
                await second


async def test_a_cancelled_asker_leaves_nothing_reserved(row, budget):
    row.answers.clear()
    asking = asyncio.create_task(budget.reserve("it", 9.0))
    await a_while()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    row.answers.set()
    await budget.reserve("it", 3.0)

    assert row.store.read() == (0, 3.0)
