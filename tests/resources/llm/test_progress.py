"""The time left: from the pace of now, without what the ledger answers, and only once it means much."""

from contextvars import copy_context

import pytest

from resources.llm.progress import ItemRate, ProgressSnapshot, StageProgress
from resources.llm.request import Completion, Failure
from resources.llm.usage import ALL_MODELS, Usage


def rate_of(*marks: ProgressSnapshot) -> ItemRate:
    rate = ItemRate(0.0)
    for mark in marks:
        rate.mark(mark)
    return rate


def test_there_is_no_estimate_before_as_many_are_done_as_are_in_flight():
    assert ItemRate(0.0).seconds_left(100) is None
    from_ledger = rate_of(ProgressSnapshot(10.0, 1000, 1000, 1000, 0))
    assert from_ledger.seconds_left(100) is None, "the ledger answered all"

    pace = rate_of(ProgressSnapshot.of_units(10.0, 15))
    assert pace.seconds_left(100, in_flight=16) is None

    pace.mark(ProgressSnapshot.of_units(20.0, 30))
    # 30 in 20 s; and the last 16, once they are in flight, take half of what 16 take.
    assert pace.seconds_left(100, in_flight=16) == pytest.approx((100 + 8) * 20 / 30)
    assert pace.seconds_left(0) == 0


@pytest.mark.parametrize(
    ("marks", "n_left", "seconds"),
    [
        # A hundred of a second each, and then twenty a second: a hundred take 5 s.
        (
            [ProgressSnapshot.of_units(100.0, 100), ProgressSnapshot.of_units(105.0, 200)],
            100,
            5 + 0.05 / 2,
        ),
        # 900 are in the ledger, and each of the others takes a second.
        (
            [ProgressSnapshot(10.0, 900, 900, 900, 0), ProgressSnapshot(20.0, 910, 910, 910, 10)],
            90,
            90 + 1 / 2,
        ),
        # Five requests an item, a second each; ten of the 50 that are left were made.
        ([ProgressSnapshot(60.0, 10, 50, 60, 60)], 10, 40 + 1 / 2),
    ],
    ids=["a slow start", "a killed stage", "several turns"],
)
def test_the_time_left_is_that_of_the_requests_that_are_left_at_the_pace_of_now(
    marks: list[ProgressSnapshot], n_left: int, seconds: float
) -> None:
    assert rate_of(*marks).seconds_left(n_left, in_flight=1) == pytest.approx(seconds)


def test_a_stage_counts_the_items_that_are_done_and_their_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
