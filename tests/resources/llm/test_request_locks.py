"""Locks of requests: of all stages and processes that share a ledger, one at a time holds a key's."""

import asyncio
import hashlib
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import pytest

from resources.llm import request_locks as module
from resources.llm.request_locks import RequestLocks
from tests.doubles.scripts import start

pytestmark = pytest.mark.usefixtures("stores_on")

SOON = 1.0
"""Seconds in which a lock that was released is taken, on a busy machine, too."""


def key_of(number: int) -> str:
    return hashlib.sha256(f"request {number}".encode()).hexdigest()


@pytest.fixture
def ledger_path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def new_locks(ledger_path: Path) -> Iterator[Callable[[], RequestLocks]]:
    """Opens locks as each stage of a process does, and closes them after the test."""
    with ExitStack() as stack:

        def opened() -> RequestLocks:
            locks = RequestLocks(ledger_path)
            stack.callback(locks.close)
            return locks

        yield opened


@pytest.fixture
def at_once(stores_on: str) -> float:
    """Seconds in which a lock that is free is taken: of a file before there is a second attempt."""
    return module._FIRST_PAUSE / 2 if stores_on == "sqlite" else SOON


async def can_take(locks: RequestLocks, key: str, within: float = SOON) -> bool:
    """Whether the lock of `key` can be taken in time; it is released again."""
    try:
        async with asyncio.timeout(within), locks.hold(key):
            return True
    except TimeoutError:
        return False


async def test_one_at_a_time_holds_the_lock_of_a_key_and_each_gets_it(new_locks):
    inside: list[int] = []
    turns: Counter[int] = Counter()

    async def work(number: int) -> None:
        locks = new_locks()
        for _ in range(3):
            async with locks.hold(key_of(0)):
                inside.append(number)
                await asyncio.sleep(0.005)
                assert inside == [number]
                turns[number] += 1
                inside.clear()

    await asyncio.gather(*(work(number) for number in range(4)))

    assert turns == {0: 3, 1: 3, 2: 3, 3: 3}


async def test_releasing_one_lock_leaves_the_others_held(new_locks):
    first, second = new_locks(), new_locks()

    async with first.hold(key_of(0)), first.hold(key_of(2)):
        async with first.hold(key_of(1)):
            pass
        free = [await can_take(second, key_of(number), within=0.1) for number in range(3)]

    assert free == [False, True, False]


async def test_an_error_releases_the_lock(new_locks, at_once):
    with pytest.raises(ZeroDivisionError):
        async with new_locks().hold(key_of(0)):
            raise ZeroDivisionError

    assert await can_take(new_locks(), key_of(0), within=at_once)


async def test_a_waiter_that_is_cancelled_does_not_take_the_lock(new_locks, at_once):
    first, gone, third = new_locks(), new_locks(), new_locks()

    async with first.hold(key_of(0)):
        waiting = asyncio.create_task(can_take(gone, key_of(0)))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    assert await can_take(third, key_of(0), within=at_once)


def test_closing_releases_every_lock(new_locks, ledger_path, at_once):
    first, second = RequestLocks(ledger_path), new_locks()

    async def meet() -> None:
        async with AsyncExitStack() as stack:
            for number in range(2):
                await stack.enter_async_context(first.hold(key_of(number)))
                assert not await can_take(second, key_of(number), within=at_once)
            first.close()
            for number in range(2):
                assert await can_take(second, key_of(number), within=at_once)
            stack.pop_all()  # the locks were released with the file

    asyncio.run(meet())


HOLDER = """
    import asyncio, subprocess, sys
    from pathlib import Path
    from resources.llm.request_locks import RequestLocks

    async def hold():
        locks = RequestLocks(Path(sys.argv[1]))
        if sys.argv[3] == "with a child":
            subprocess.Popen(["sleep", "3"], close_fds=False, stdout=subprocess.DEVNULL)
        async with locks.hold(sys.argv[2]):
            print("holding", flush=True)
            await asyncio.sleep(60)

    asyncio.run(hold())
"""


@pytest.mark.parametrize("alone", ["alone", "with a child"])
async def test_a_lock_keeps_other_processes_out_and_is_released_when_its_holder_is_killed(
    new_locks, ledger_path, alone, at_once
):
    locks = new_locks()

    with start(HOLDER, ledger_path, key_of(0), alone, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == "holding\n"
        assert await can_take(locks, key_of(1), within=at_once)
        assert not await can_take(locks, key_of(0), within=0.1)
        holder.kill()
        holder.wait()
        assert await can_take(locks, key_of(0), within=at_once)
