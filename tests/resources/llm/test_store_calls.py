"""A store that waits for its server does not stop the event loop."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from resources.llm import request_locks
from resources.llm.budget import Budget, BudgetReached
from resources.llm.budget_store import ChainBudget
from resources.llm.request_locks import RequestLocks
from resources.llm.store_calls import StoreCalls


class SlowLocks:
    """Locks on a server that answers when it is told to."""

    may_wait = True

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.answers.set()
        self.held: set[int] = set()
        self.n_taken = 0

    def take(self, offset: int) -> bool:
        assert self.answers.wait(10)
        self.held.add(offset)
        self.n_taken += 1
        return True

    def release(self, offset: int) -> None:
        assert self.answers.wait(10)
        self.held.discard(offset)

    def close(self) -> None:
        self.held.clear()


@pytest.fixture
def slow() -> SlowLocks:
    return SlowLocks()


@pytest.fixture
def locks(slow: SlowLocks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RequestLocks:
    monkeypatch.setattr(request_locks, "open_locks", lambda path: slow)
    return RequestLocks(tmp_path / "ledger.sqlite")


async def a_while(n: int = 5) -> None:
    for _ in range(n):
        await asyncio.sleep(0.01)


def test_a_file_is_called_directly_and_a_server_in_a_thread():
    async def work() -> tuple[bool, bool]:
        here = threading.get_ident()
        of_file, of_server = StoreCalls(may_wait=False), StoreCalls(may_wait=True)
        in_threads = [await calls.call(threading.get_ident) for calls in (of_file, of_server)]
        of_server.close()
        return in_threads[0] == here, in_threads[1] == here

    assert asyncio.run(work()) == (True, False)


def test_calls_that_were_begun_are_made_in_order_also_after_the_end_of_the_loop():
    answers, made = threading.Event(), list[str]()
    calls = StoreCalls(may_wait=True)

    async def work() -> None:
        calls.later(lambda: answers.wait(10))
        cancelled = asyncio.create_task(
            calls.call(lambda: made.append("cancelled before it began"))
        )
        await asyncio.sleep(0)
        cancelled.cancel()
        calls.later(lambda: made.append("nobody waited"))

    asyncio.run(work())
    assert not made
    answers.set()
    calls.close()
    assert made == ["cancelled before it began", "nobody waited"]


def test_host_names_are_looked_up_while_every_store_waits():
    answers = threading.Event()

    async def work() -> None:
        all_stores = [StoreCalls(may_wait=True) for _ in range(40)]
        for calls in all_stores:
            calls.later(lambda: answers.wait(10))
        loop = asyncio.get_running_loop()
        await asyncio.wait_for(loop.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM), 5)
        answers.set()
        for calls in all_stores:
            calls.close()

    asyncio.run(work())


def test_other_tasks_go_on_while_a_lock_waits_for_its_server(locks, slow):
    async def ask() -> set[int]:
        async with locks.hold("a" * 64):
            return set(slow.held)

    async def work() -> set[int]:
        slow.answers.clear()
        asking = asyncio.create_task(ask())
        await a_while()
        assert not asking.done()
        slow.answers.set()
        return await asking

    assert len(asyncio.run(work())) == 1
    locks.close()
    assert slow.held == set(), "released at the end of the block"


def test_a_lock_that_comes_after_its_asker_was_cancelled_is_given_back(locks, slow):
    async def hold() -> None:
        async with locks.hold("a" * 64):
            raise AssertionError("nobody waits for it")

    async def work() -> None:
        slow.answers.clear()
        holding = asyncio.create_task(hold())
        await asyncio.sleep(0.01)
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        slow.answers.set()

    asyncio.run(work())
    locks._calls.close()
    assert slow.n_taken == 1 and slow.held == set()


class SlowRow:
    """A row of a budget whose server answers when it is told to."""

    def __init__(self) -> None:
        self.calls, self.answers = StoreCalls(may_wait=True), threading.Event()
        self.answers.set()
        self.spent, self.reserved = 0.0, 0.0

    def charge(self, usd: float, limit: float) -> bool:
        assert self.answers.wait(10)
        fits = self.spent + self.reserved + usd <= limit
        self.reserved += usd * fits
        return fits

    def change(self, reserved_usd: float, spent_usd: float) -> None:
        assert self.answers.wait(10)
        self.reserved += reserved_usd
        self.spent += spent_usd

    def read(self) -> tuple[float, float]:
        assert self.answers.wait(10)
        return self.spent, self.reserved


@pytest.fixture
def row() -> Iterator[SlowRow]:
    made = SlowRow()
    yield made
    made.answers.set()
    made.calls.close()


def budget_of(row: SlowRow) -> Budget:
    return Budget(10.0, cast(ChainBudget, row))


def test_calls_that_ask_a_slow_row_together_reserve_no_more_than_there_is(row):
    budget = budget_of(row)

    async def work() -> int:
        row.answers.clear()
        asking = [asyncio.create_task(budget.reserve("it", 4.0)) for _ in range(4)]
        await a_while()
        assert not any(each.done() for each in asking)
        row.answers.set()
        await a_while(20)
        n_reserved = sum(each.done() for each in asking)
        for _ in range(4):
            budget.settle(4.0, 1.0)
            await a_while()
        await asyncio.wait_for(asyncio.gather(*asking), 5)
        return n_reserved

    assert asyncio.run(work()) == 2
    row.calls.close()
    assert budget.spent_usd == row.spent == 4 and row.reserved == 0


@pytest.mark.parametrize("cost", [0.0, 4.0, 8.0])
def test_what_is_settled_while_a_slow_row_is_asked_counts(row, cost):
    budget = budget_of(row)

    async def work() -> bool:
        await budget.reserve("it", 8.0)
        row.answers.clear()
        second = asyncio.create_task(budget.reserve("it", 4.0))
        await a_while()
        budget.settle(8.0, cost)
        row.answers.set()
        try:
            await asyncio.wait_for(second, 5)
        except BudgetReached:
            return False
        return True

    assert asyncio.run(work()) == (cost <= 6)


def test_a_cancelled_asker_leaves_nothing_reserved(row):
    budget = budget_of(row)

    async def work() -> None:
        row.answers.clear()
        asking = asyncio.create_task(budget.reserve("it", 9.0))
        await a_while()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        row.answers.set()
        await budget.reserve("it", 3.0)

    asyncio.run(work())
    assert row.reserved == 3.0
