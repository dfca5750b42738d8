"""The time left is told once it means something, and is not wrong by much: stages are simulated."""

import heapq
import random
from collections.abc import Callable, Iterator
from contextvars import Context, copy_context
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.llm import progress as module
from resources.llm.progress import ItemRate, ProgressReport, ProgressSnapshot, StageProgress
from resources.llm.request import Completion, Failure
from resources.llm.usage import ALL_MODELS, Usage
from tests.doubles.virtual_time import VirtualTime

clock = VirtualTime()


@pytest.fixture(scope="module", autouse=True)
def under_virtual_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "time", clock)
        yield


Estimate = tuple[float, float]
"""Seconds left as told, and as they were."""


def simulate(
    seconds: Callable[[int], float | None],
    n_items: int,
    at_once: int,
    turns: int = 1,
    starts_after: float = 0.0,
) -> list[Estimate]:
    """The estimates of a stage that has `at_once` requests in flight.

    `seconds` says how long the requests of an item take; None: the ledger answers them.
    """
    usage, told, started = Usage(), list[tuple[float, ProgressReport]](), clock.now
    in_flight = 0
    progress = StageProgress(
        "s",
        {ALL_MODELS: n_items},
        usage,
        lambda report: told.append((clock.now, report)),
        lambda _lane: in_flight,
    )
    waiting = list(reversed(range(n_items)))
    tasks: dict[int, Context] = {}
    workers = max(64, 2 * at_once)
    queue: list[tuple[int, int]] = []  # items of workers, waiting for a place
    running: list[tuple[float, int, int, int, bool]] = []
    order = count()
    look = started

    def admit() -> None:
        nonlocal in_flight
        while waiting and len(queue) + len(running) < workers:
            item = waiting.pop()
            tasks[item] = copy_context()
            tasks[item].run(progress.begin, ALL_MODELS)
            queue.append((item, 0))
        while queue and in_flight < at_once:
            item, turn = queue.pop(0)
            takes = seconds(item)
            in_flight += 1
            ready = max(clock.now, started + starts_after) if takes is not None else clock.now
            heapq.heappush(
                running, (ready + (takes or 0.0), next(order), item, turn, takes is None)
            )

    admit()
    while running:
        ends, _, item, turn, cached = running[0]
        if look + 1 < ends:
            look += 1
            clock.now = look
            progress.report_if_due()
            continue
        heapq.heappop(running)
        clock.now = ends
        in_flight -= 1
        tasks[item].run(usage.count, Completion("k", "a", "stop", 1, 1, 0.0, cached), "m")
        if turn + 1 < turns:
            queue.append((item, turn + 1))
        else:
            tasks[item].run(progress.step, ALL_MODELS)
        admit()
    return [
        (report.seconds_left, clock.now - at)
        for at, report in told
        if report.seconds_left is not None
    ]


def wrong_by(estimates: list[Estimate], until: float = 2.0) -> float:
    """The largest factor between what was told and what was, until so many seconds were left."""
    return max(
        (max(told / true, true / told) for told, true in estimates if true > until), default=1.0
    )


@settings(max_examples=30, deadline=None)
@given(
    median=st.sampled_from([0.2, 1.0, 5.0]),
    jitter=st.sampled_from([0.0, 0.1, 0.5]),
    at_once=st.sampled_from([1, 4, 16, 64]),
    n_items=st.integers(30, 300),
    turns=st.sampled_from([1, 5]),
    starts_after=st.sampled_from([0.0, 3.0, 30.0]),
    seed=st.integers(0, 10),
)
def test_a_stage_of_any_latency_and_start_is_never_off_by_ten(
    median, jitter, at_once, n_items, turns, starts_after, seed
):
    draw = random.Random(seed)

    def seconds(_item: int) -> float:
        return median * draw.lognormvariate(0, jitter)

    estimates = simulate(seconds, n_items, at_once, turns, starts_after)

    # Of requests that are in flight nobody knows which moment they are at.
    assert wrong_by(estimates, until=max(2.0, median)) < 10


@pytest.mark.parametrize("at_once", [1, 16])
def test_a_stage_that_goes_on_for_a_killed_one_is_not_done_in_no_time(at_once):
    # 900 of 1,000 are in the ledger, and each of the others takes a second.
    estimates = simulate(lambda item: None if item < 900 else 1.0, 1000, at_once)

    # With 16 at once there are six seconds to tell.
    assert len(estimates) >= (10 if at_once == 1 else 0)
    assert wrong_by(estimates) < 2


def test_after_a_slow_start_the_pace_is_that_of_now():
    # A hundred of a second each, one at a time; then twenty a second.
    estimates = simulate(lambda item: 1.0 if item < 100 else 0.05, 1100, 1)

    late = [(told, true) for told, true in estimates if true < 45]
    assert late and wrong_by(late) < 1.2


def test_there_is_no_estimate_before_as_many_are_done_as_are_in_flight():
    from_ledger = ItemRate(0.0)
    from_ledger.mark(ProgressSnapshot(10.0, 1000, 1000, 1000, 0))
    assert from_ledger.seconds_left(100) is None, "the ledger answered all"

    pace = ItemRate(0.0)
    pace.mark(ProgressSnapshot.of_units(10.0, 15))
    assert pace.seconds_left(100, in_flight=16) is None

    pace.mark(ProgressSnapshot.of_units(20.0, 30))
    # 30 in 20 s; and the last 16, once they are in flight, take half of what 16 take.
    assert pace.seconds_left(100, in_flight=16) == pytest.approx((100 + 8) * 20 / 30)


def test_requests_of_a_model_that_was_given_up_are_not_sent():
    usage = Usage()
    usage.count(Failure("k", "given_up", "no"), "m")
    usage.count(Failure("k", "timeout", "no"), "m")

    assert usage.requests_of("m") == usage.requests_of(ALL_MODELS) == (2, 1)
