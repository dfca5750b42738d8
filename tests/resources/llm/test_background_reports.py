"""Reports of progress never keep the event loop waiting, and none is lost or swallowed."""

import asyncio
from threading import Event

import pytest

from resources.llm.background_reports import background_reports
from resources.llm.progress import ProgressReport
from resources.llm.usage import Usage


def report(calls: int) -> ProgressReport:
    return ProgressReport("s", calls, 9, Usage(calls=calls), 1.0, None)


def test_a_report_that_waits_keeps_nothing_else_waiting_and_all_are_made_in_order() -> None:
    may_go_on, done = Event(), list[int]()

    def slow(shown: ProgressReport) -> None:
        assert may_go_on.wait(20)
        done.append(shown.usage.calls)

    async def stage() -> None:
        async with background_reports(slow) as show:
            for calls in range(3):
                counted = report(calls)
                show(counted)
                counted.usage.calls = 100
            assert done == [], "the first one still waits"
            may_go_on.set()

    asyncio.run(stage())
    assert done == [0, 1, 2]


def test_an_error_of_a_report_ends_the_stage() -> None:
    def broken(_: ProgressReport) -> None:
        raise OSError("full")

    async def stage() -> None:
        async with background_reports(broken) as show:
            show(report(1))

    with pytest.raises(OSError, match="full"):
        asyncio.run(stage())
