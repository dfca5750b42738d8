"""A stage that stands still names what it waits for; what fails inside a stage never hangs it."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from resources.llm import watchdog
from resources.llm.ledger import Ledger
from resources.llm.ledger.writer import LedgerWriter
from resources.llm.watchdog import waits_for, watch
from resources.migrations import StoreError
from tests.resources.llm.test_ledger import call


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of a watchdog that is soon impatient."""
    monkeypatch.setattr(watchdog, "STILL_SECONDS", 0.1)
    return []


async def watched(stage: str, progress: Callable[[], object], lines: list[str]) -> None:
    watching = asyncio.create_task(watch(stage, progress, lines.append))
    await asyncio.sleep(0.3)
    watching.cancel()


def test_a_stage_that_stands_still_names_what_its_tasks_wait_for(lines: list[str]) -> None:
    async def ask(what: str) -> None:
        waits_for(what)
        await asyncio.sleep(0.35)

    async def stage() -> None:
        async with asyncio.TaskGroup() as tasks:
            for what in ("a reply of it", "a reply of it", "room"):
                tasks.create_task(ask(what))
            await watched("evaluate.answers", lambda: 0, lines)

    asyncio.run(stage())
    assert lines and lines[0].startswith("evaluate.answers: nothing has moved for ")
    assert lines[0].endswith("It waits for a reply of it (2), room (1).")


def test_a_stage_that_moves_says_nothing(lines: list[str]) -> None:
    asyncio.run(watched("stage", time.monotonic, lines))
    assert lines == []


def test_an_event_loop_that_stands_in_a_call_has_its_traceback_on_standard_error(
    lines: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    async def stage() -> None:
        watching = asyncio.create_task(watch("stage", lambda: 0, lines.append))
        await asyncio.sleep(0)
        time.sleep(0.5)
        watching.cancel()

    asyncio.run(stage())
    assert f'File "{__file__}", line' in capfd.readouterr().err


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
