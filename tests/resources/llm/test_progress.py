"""Progress: the time left, reports that hold nothing up, and what a stage waits for."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextvars import copy_context
from threading import Event

import pytest

from resources.llm import watchdog
from resources.llm.background_reports import background_reports
from resources.llm.ledger import Ledger
from resources.llm.ledger.writer import LedgerWriter
from resources.llm.progress import ItemRate, ProgressReport, ProgressSnapshot, StageProgress
from resources.llm.request import Completion, Failure
from resources.llm.usage import ALL_MODELS, Usage
from resources.llm.watchdog import waits_for, watch
from resources.migrations import StoreError
from tests.resources.llm.entries import call


def rate_of(*marks: tuple[float, int, int, int, int]) -> ItemRate:
    rate = ItemRate(0.0)
    for mark in marks:
        rate.mark(ProgressSnapshot(*mark))
    return rate


def test_parts_of_a_stage_add_up_and_the_cost_of_the_run_is_the_last_one():
    usage = Usage(calls=1, unread=2, run_cost_usd=3.0, failures=Counter(refused=1))
    usage.add(Usage(calls=2, unread=1, run_cost_usd=4.0, failures=Counter(refused=2)))
    assert usage == Usage(calls=3, unread=3, run_cost_usd=4.0, failures=Counter(refused=3))


def test_there_is_no_estimate_before_as_many_are_done_as_are_in_flight():
    assert ItemRate(0.0).seconds_left(100) is None
    from_ledger = rate_of((10.0, 1000, 1000, 1000, 0))
    assert from_ledger.seconds_left(100) is None, "the ledger answered all"

    pace = rate_of((10.0, 15, 15, 15, 15))
    assert pace.seconds_left(100, in_flight=16) is None

    pace.mark(ProgressSnapshot.of_units(20.0, 30))
    # 30 in 20 s; and the last 16, once they are in flight, take half of what 16 take.
    assert pace.seconds_left(100, in_flight=16) == pytest.approx((100 + 8) * 20 / 30)
    assert pace.seconds_left(0) == 0


@pytest.mark.parametrize(
    ("marks", "n_left", "seconds"),
    [
        # A hundred of a second each, and then twenty a second: a hundred take 5 s.
        ([(100.0, 100, 100, 100, 100), (105.0, 200, 200, 200, 200)], 100, 5 + 0.05 / 2),
        # 900 are in the ledger, and each of the others takes a second.
        ([(10.0, 900, 900, 900, 0), (20.0, 910, 910, 910, 10)], 90, 90 + 1 / 2),
        # Five requests an item, a second each; ten of the 50 that are left were made.
        ([(60.0, 10, 50, 60, 60)], 10, 40 + 1 / 2),
    ],
    ids=["a slow start", "a killed stage", "several turns"],
)
def test_the_time_left_is_that_of_the_requests_that_are_left_at_the_pace_of_now(
    marks, n_left, seconds
):
    assert rate_of(*marks).seconds_left(n_left, in_flight=1) == pytest.approx(seconds)


def test_a_stage_counts_the_items_that_are_done_and_their_requests(monkeypatch):
    now = 0.0
    monkeypatch.setattr("resources.llm.progress.time.monotonic", lambda: now)
    usage, reports = Usage(), list[float | None]()
    progress = StageProgress(
        "s", {ALL_MODELS: 30}, usage, lambda report: reports.append(report.seconds_left)
    )

    def answer_one() -> None:
        progress.begin(ALL_MODELS)
        usage.count(Completion("k", "a", "stop", 1, 1, 0.0, False), "m")
        progress.step(ALL_MODELS)

    for number in range(20):
        now = number + 1.0
        copy_context().run(answer_one)

    # Reports after 2, 7, 12 and 17 s; before ten are done nothing is told. Then one takes a second.
    assert reports == [None, None, pytest.approx(18), pytest.approx(13)]

    told_at = []
    for now in (22.0, 27.0, 32.0, 42.0, 47.0, 52.0, 57.0, 92.0):
        n_before = len(reports)
        progress.report_if_due()
        if len(reports) > n_before:
            told_at.append(now)
    # The last item of 20 is news. Then the time between reports doubles from five seconds.
    assert told_at == [22, 27, 42, 92]


def test_requests_of_a_model_that_was_given_up_are_not_sent():
    usage = Usage()
    usage.count(Failure("k", "given_up", "no"), "m")
    usage.count(Failure("k", "timeout", "no"), "m")

    assert usage.requests_of("m") == usage.requests_of(ALL_MODELS) == (2, 1)


def report(calls: int) -> ProgressReport:
    return ProgressReport("s", calls, 9, Usage(calls=calls), 1.0, None)


async def test_a_report_that_waits_keeps_nothing_else_waiting_and_all_are_made_in_order():
    may_go_on, done = Event(), list[int]()

    def slow(shown: ProgressReport) -> None:
        assert may_go_on.wait(20)
        done.append(shown.usage.calls)

    async with background_reports(slow) as show:
        for calls in range(3):
            counted = report(calls)
            show(counted)
            counted.usage.calls = 100
        assert done == [], "the first one still waits"
        may_go_on.set()
    assert done == [0, 1, 2]


async def test_an_error_of_a_report_ends_the_stage():
    def broken(_: ProgressReport) -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        async with background_reports(broken) as show:
            show(report(1))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "STILL_SECONDS", 0.1)


async def watched(stage: str, progress: Callable[[], object]) -> None:
    watching = asyncio.create_task(watch(stage, progress))
    await asyncio.sleep(0.3)
    watching.cancel()


async def test_a_stage_that_stands_still_names_what_its_tasks_wait_for(impatient, caplog):
    async def ask(what: str) -> None:
        waits_for(what)
        await asyncio.sleep(0.35)

    async with asyncio.TaskGroup() as tasks:
        for what in ("a reply of it", "a reply of it", "room"):
            tasks.create_task(ask(what))
        await watched("evaluate.answers", lambda: 0)

    line = caplog.messages[0]
    assert line.startswith("evaluate.answers: nothing has moved for ")
    assert line.endswith("It waits for a reply of it (2), room (1).")
    # One that moves says nothing.
    caplog.clear()
    await watched("stage", time.monotonic)
    assert caplog.messages == []


async def test_an_event_loop_that_stands_in_a_call_has_its_traceback_on_standard_error(
    impatient, capfd
):
    watching = asyncio.create_task(watch("stage", lambda: 0))
    await asyncio.sleep(0)
    time.sleep(0.5)
    watching.cancel()

    assert f'File "{__file__}", line' in capfd.readouterr().err


class Panic(BaseException):
    """As a library of another language raises it: no Exception."""


async def test_an_error_of_whatever_kind_while_writing_the_ledger_reaches_who_waits(
    tmp_path, monkeypatch
):
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def panic(_calls: object) -> None:
        raise Panic("index out of bounds")

    async with asyncio.timeout(10), LedgerWriter(ledger) as writer:
        with monkeypatch.context() as patch:
            patch.setattr(ledger, "add", panic)
            for number in range(2):
                with pytest.raises(StoreError, match=r"could not be written \(Panic: index"):
                    await writer.add(call(number))
        with pytest.raises(StoreError, match="could not be written"):
            await writer.usable()
        await writer.add(call(2))
    assert len(ledger) == 1
