"""One flight per request: among all sessions and processes of a ledger one at a time is in it."""

import asyncio
import hashlib
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from resources.home import REPO_ROOT
from resources.llm import flights as module
from resources.llm.flights import Flights

SOON = 1.0
"""Seconds in which a flight that has come free is noticed, on a busy machine too."""


def key_of(number: int) -> str:
    """A request's key; `number` makes it another one."""
    return hashlib.sha256(f"request {number}".encode()).hexdigest()


@pytest.fixture
def ledger_path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def sessions(ledger_path: Path) -> Iterator[Callable[[], Flights]]:
    """Opens flights as each session of this process does, and closes them after the test."""
    with ExitStack() as stack:

        def opened() -> Flights:
            flights = Flights(ledger_path)
            stack.callback(flights.close)
            return flights

        yield opened


async def goes(flights: Flights, key: str, within: float = SOON) -> bool:
    """Whether a session comes to be in the flight of `key` in time; it gives the flight up again."""
    try:
        async with asyncio.timeout(within), flights.one(key):
            return True
    except TimeoutError:
        return False


# Among sessions of one process


def test_only_one_session_at_a_time_is_in_the_flight_of_a_key_and_each_has_its_turn(sessions):
    inside: list[int] = []
    turns: Counter[int] = Counter()

    async def fly(number: int) -> None:
        flights = sessions()
        for _ in range(3):
            async with flights.one(key_of(0)):
                inside.append(number)
                await asyncio.sleep(0.005)
                assert inside == [number]
                turns[number] += 1
                inside.clear()

    async def all_fly() -> None:
        await asyncio.gather(*(fly(number) for number in range(4)))

    asyncio.run(all_fly())

    assert turns == {0: 3, 1: 3, 2: 3, 3: 3}


def test_who_comes_to_a_flight_that_is_taken_waits_and_goes_when_it_is_given_up(sessions):
    first, second = sessions(), sessions()

    async def meet() -> tuple[bool, bool]:
        async with first.one(key_of(0)):
            meanwhile = await goes(second, key_of(0), within=0.3)
        return meanwhile, await goes(second, key_of(0))

    assert asyncio.run(meet()) == (False, True)


def test_who_waits_looks_soon_at_first_and_never_less_than_four_times_a_second(
    sessions, monkeypatch
):
    first, second = sessions(), sessions()
    pauses: list[float] = []
    enough = asyncio.Event()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 30:
            enough.set()
        await asyncio.sleep(0)

    async def meet() -> None:
        async with first.one(key_of(0)):
            waiting = asyncio.create_task(goes(second, key_of(0)))
            await enough.wait()
        assert await waiting

    monkeypatch.setattr(module, "asyncio", SimpleNamespace(sleep=pause))
    asyncio.run(meet())

    assert pauses[0] <= 0.05 and pauses == sorted(pauses) and max(pauses) == 0.25


def test_other_keys_do_not_wait(sessions):
    first, second = sessions(), sessions()

    async def meet() -> list[bool]:
        async with first.one(key_of(0)):
            # At once: not even the first look would come in this time.
            return [
                await goes(second, key_of(number), within=module._FIRST_LOOK / 2)
                for number in range(1, 100)
            ]

    assert all(asyncio.run(meet()))


def test_a_session_gives_up_one_of_its_flights_and_stays_in_the_others(sessions):
    first, second = sessions(), sessions()

    async def meet() -> list[bool]:
        async with first.one(key_of(0)), first.one(key_of(2)):
            async with first.one(key_of(1)):
                pass
            return [await goes(second, key_of(number), within=0.1) for number in range(3)]

    assert asyncio.run(meet()) == [False, True, False]


def test_a_flight_that_ends_in_an_error_is_given_up(sessions):
    async def meet() -> bool:
        with pytest.raises(ZeroDivisionError):
            async with sessions().one(key_of(0)):
                raise ZeroDivisionError
        return await goes(sessions(), key_of(0), within=module._FIRST_LOOK / 2)

    assert asyncio.run(meet())


def test_who_stops_waiting_for_a_flight_is_not_in_its_way(sessions):
    first, gone, third = sessions(), sessions(), sessions()

    async def meet() -> bool:
        async with first.one(key_of(0)):
            waiting = asyncio.create_task(goes(gone, key_of(0)))
            await asyncio.sleep(0.05)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        return await goes(third, key_of(0), within=module._FIRST_LOOK / 2)

    assert asyncio.run(meet())


def test_closing_gives_all_flights_up(sessions, ledger_path):
    first, second = Flights(ledger_path), sessions()

    async def meet() -> list[list[bool]]:
        async def all_go() -> list[bool]:
            return [await goes(second, key_of(number), within=0.01) for number in range(5)]

        async with AsyncExitStack() as stack:
            for number in range(5):
                await stack.enter_async_context(first.one(key_of(number)))
            before = await all_go()
            first.close()
            after = await all_go()
            stack.pop_all()  # what was given up with the file cannot be given up again
            return [before, after]

    assert asyncio.run(meet()) == [[False] * 5, [True] * 5]


# Among processes


HOLDER = """
    import asyncio, subprocess, sys
    from pathlib import Path
    from resources.llm.flights import Flights

    async def hold():
        flights = Flights(Path(sys.argv[1]))
        if sys.argv[3] == "with a child":
            subprocess.Popen(["sleep", "3"], close_fds=False, stdout=subprocess.DEVNULL)
        async with flights.one(sys.argv[2]):
            print("holding", flush=True)
            await asyncio.sleep(60)

    asyncio.run(hold())
"""


@pytest.mark.parametrize("alone", ["alone", "with a child"])
def test_a_flight_is_kept_from_other_processes_and_free_at_once_when_its_holder_is_killed(
    sessions, ledger_path, alone
):
    flights = sessions()

    with start(HOLDER, ledger_path, key_of(0), alone) as holder:
        assert holder.stdout.readline() == "holding\n"
        other = asyncio.run(goes(flights, key_of(1), within=0.01))
        meanwhile = asyncio.run(goes(flights, key_of(0), within=0.1))
        holder.kill()
        holder.wait()
        at_once = asyncio.run(goes(flights, key_of(0), within=0.01))

    assert (other, meanwhile, at_once) == (True, False, True)


COUNTER = """
    import asyncio, sys
    from pathlib import Path
    from resources.llm.flights import Flights

    async def count():
        flights, counter = Flights(Path(sys.argv[1])), Path(sys.argv[2])
        print("ready", flush=True)
        sys.stdin.readline()
        for _ in range(10):
            async with flights.one(sys.argv[3]):
                read = int(counter.read_text())
                await asyncio.sleep(0.003)
                counter.write_text(str(read + 1))
            await asyncio.sleep(0.01)

    asyncio.run(count())
"""


def test_what_processes_do_in_a_flight_they_do_one_after_another(ledger_path, tmp_path):
    counter = tmp_path / "counter"
    counter.write_text("0")
    with ExitStack() as stack:
        counters = [
            stack.enter_context(start(COUNTER, ledger_path, counter, key_of(0))) for _ in range(3)
        ]
        together(counters)
        assert [each.wait(60) for each in counters] == [0, 0, 0]

    # Three times ten, of which none was lost to one that had read the same number.
    assert counter.read_text() == "30"


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, cwd=REPO_ROOT, text=True, **pipes)


def together(processes: list[subprocess.Popen[str]]) -> None:
    """Have processes that have said that they are ready go on at the same moment."""
    for process in processes:
        assert process.stdout and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
