"""A store that waits for its server does not stop the event loop."""

import asyncio
import threading
from pathlib import Path

from resources.llm.off_loop import off_loop
from resources.llm.request_locks import RequestLocks


class SlowLocks:
    """Locks on a server that answers when it is told to."""

    may_wait = True

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.held: set[int] = set()
        self.n_taken = 0

    def take(self, offset: int) -> bool:
        assert self.answers.wait(10)
        self.held.add(offset)
        self.n_taken += 1
        return True

    def release(self, offset: int) -> None:
        self.held.discard(offset)

    def close(self) -> None:
        self.held.clear()


def slow_locks(folder: Path) -> tuple[RequestLocks, SlowLocks]:
    locks, slow = RequestLocks(folder / "ledger.sqlite"), SlowLocks()
    locks._locks.close()
    locks._locks = slow
    return locks, slow


def test_other_tasks_go_on_while_a_lock_waits_for_its_server(tmp_path: Path) -> None:
    locks, slow = slow_locks(tmp_path)

    async def ask() -> set[int]:
        async with locks.hold("a" * 64):
            return set(slow.held)

    async def work() -> set[int]:
        asking = asyncio.create_task(ask())
        for _ in range(5):
            await asyncio.sleep(0.01)
        assert not asking.done()
        slow.answers.set()
        return await asking

    assert len(asyncio.run(work())) == 1
    assert slow.held == set(), "released at the end of the block"


def test_a_lock_that_comes_after_its_asker_was_cancelled_is_given_back(tmp_path: Path) -> None:
    locks, slow = slow_locks(tmp_path)

    async def hold() -> None:
        async with locks.hold("a" * 64):
            raise AssertionError("nobody waits for it")

    async def work() -> None:
        holding = asyncio.create_task(hold())
        await asyncio.sleep(0.01)
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        slow.answers.set()
        for _ in range(200):
            await asyncio.sleep(0.01)
            if slow.n_taken and not slow.held:
                return

    asyncio.run(work())
    assert slow.n_taken == 1 and slow.held == set()


def test_what_a_file_answers_is_not_sent_to_a_thread() -> None:
    async def work() -> tuple[bool, bool]:
        here = threading.get_ident()
        return (
            await off_loop(False, threading.get_ident) == here,
            await off_loop(True, threading.get_ident) == here,
        )

    assert asyncio.run(work()) == (True, False)
