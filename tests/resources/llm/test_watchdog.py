"""A stage that stands still names what it waits for; what fails inside a stage never hangs it."""

import asyncio
import time
from pathlib import Path

import pytest

from resources.llm import limits as limits_module
from resources.llm import watchdog
from resources.llm.circuit_breaker import CircuitBreaker
from resources.llm.ledger import Ledger
from resources.llm.ledger.writer import LedgerWriter
from resources.llm.limits import ModelLimits
from resources.llm.shared.shared_limits import Places
from resources.llm.watchdog import waits_for, watched
from resources.migrations import StoreAway, StoreError
from tests.resources.llm.test_ledger import call


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of a watchdog that is soon impatient."""
    monkeypatch.setattr(watchdog, "STILL_SECONDS", 0.1)
    monkeypatch.setattr(watchdog, "_ANSWER_SECONDS", 0.1)
    return []


def test_a_stage_that_stands_still_names_what_its_tasks_wait_for(lines: list[str]) -> None:
    async def ask(what: str) -> None:
        waits_for(what)
        await asyncio.sleep(0.35)

    async def stage() -> None:
        async with asyncio.TaskGroup() as tasks:
            for what in ("a reply of it", "a reply of it", "room"):
                tasks.create_task(ask(what))
            with watched("evaluate.answers", lambda: 0, lines.append):
                await asyncio.sleep(0.3)

    asyncio.run(stage())
    assert lines and lines[0].startswith("evaluate.answers: nothing has moved for ")
    assert lines[0].endswith("It waits for a reply of it (2), room (1).")


def test_a_stage_that_moves_says_nothing(lines: list[str]) -> None:
    async def stage() -> None:
        with watched("stage", time.monotonic, lines.append):
            await asyncio.sleep(0.3)

    asyncio.run(stage())
    assert lines == []


def test_an_event_loop_that_stands_in_a_call_is_named_by_that_call(lines: list[str]) -> None:
    async def stage() -> None:
        with watched("stage", lambda: 0, lines.append):
            time.sleep(0.5)

    asyncio.run(stage())
    assert "test_watchdog.py, line" in lines[0] and "stage" in lines[0]


class AwayLocks:
    """Locks whose database is away from some time on."""

    may_wait = False

    def __init__(self) -> None:
        self.away = False
        self.held: set[int] = set()

    def take(self, offset: int) -> bool:
        self._ask()
        self.held.add(offset)
        return True

    def release(self, offset: int) -> None:
        self.held.discard(offset)
        self._ask()

    def held_by_others(self, offset: int, n_bytes: int = 1) -> bool:
        self._ask()
        return n_bytes > 1  # Another process waits, so that places are asked for by a timer.

    def close(self) -> None:
        """Nothing."""

    def _ask(self) -> None:
        if self.away:
            raise StoreAway("The database is away.")


def test_places_are_free_again_and_who_waits_is_told_where_the_database_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits_module, "ASK_SECONDS", (0.01, 0.02))
    locks, breaker = AwayLocks(), CircuitBreaker("it")
    places = Places(locks, "it", 1)
    limits = ModelLimits(1, places=places)

    async def attempt(seconds: float) -> None:
        async with limits.attempt(0, breaker):
            await asyncio.sleep(seconds)

    async def outage() -> list[BaseException | None]:
        first = asyncio.create_task(attempt(0.1))
        await asyncio.sleep(0.05)
        others = [asyncio.create_task(attempt(0)) for _ in range(3)]
        await asyncio.sleep(0)
        locks.away = True
        return await asyncio.wait_for(asyncio.gather(first, *others, return_exceptions=True), 5)

    ended = asyncio.run(outage())
    assert [type(error) for error in ended] == [StoreAway] * 4
    locks.away = False
    assert limits.in_flight == 0
    asyncio.run(asyncio.wait_for(attempt(0), 5))
    assert not locks.held


class Panic(BaseException):
    """As a library of another language raises it: no Exception."""


def test_an_error_of_whatever_kind_while_writing_the_ledger_reaches_who_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def panic(_calls: object) -> None:
        raise Panic("index out of bounds")

    async def write() -> None:
        async with LedgerWriter(ledger) as writer:
            with monkeypatch.context() as patch:
                patch.setattr(ledger, "add", panic)
                for number in range(2):
                    with pytest.raises(StoreError, match=r"could not be written \(Panic: index"):
                        await asyncio.wait_for(writer.add(call(number)), 5)
            with pytest.raises(StoreError, match="could not be written"):
                await writer.usable()
            await asyncio.wait_for(writer.add(call(2)), 5)

    asyncio.run(asyncio.wait_for(write(), 10))
    assert len(ledger) == 1
