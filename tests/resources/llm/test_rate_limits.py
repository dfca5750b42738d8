"""One model's limits: a sliding minute, and a concurrency that learns."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.llm import rate_limits as module
from resources.llm.circuit_breaker import CircuitBreaker
from resources.llm.rate_limits import ModelLimits, SlidingMinute
from tests.doubles.virtual_time import VirtualTime

WINDOW = 0.2
"""Seconds that stand for a minute here."""

clock = VirtualTime()


@pytest.fixture(scope="module", autouse=True)
def under_virtual_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "time", clock)
        yield


def model_limits(
    concurrency: int = 4, rpm: int | None = None, tpm: int | None = None
) -> ModelLimits:
    requests = SlidingMinute(rpm) if rpm else None
    return ModelLimits(concurrency, requests, SlidingMinute(tpm) if tpm else None)


@settings(max_examples=15, deadline=None)
@given(
    limit=st.integers(1, 20),
    units=st.lists(st.integers(1, 25), min_size=1, max_size=25),
)
def test_no_window_ever_holds_more_than_the_limit(limit: int, units: list[int]) -> None:
    window = 0.02
    taken: list[tuple[float, float]] = []

    async def take_all() -> None:
        minute = SlidingMinute(limit, window=window)

        async def take(n: int) -> None:
            entry = await minute.take(n)
            taken.append((entry.at, entry.units))

        await asyncio.gather(*(take(n) for n in units))

    clock.run(take_all)
    assert len(taken) == len(units)
    for start, _ in taken:
        inside = sum(n for at, n in taken if start <= at < start + window)
        assert inside <= limit + 1e-6


def test_a_limit_that_binds_is_used_to_the_full() -> None:
    # 30 at 10 a window: the first ten at once, then ten at each end of a window, so two windows.
    async def take_all() -> float:
        minute = SlidingMinute(10, window=WINDOW)
        started = clock.monotonic()
        await asyncio.gather(*(minute.take(1) for _ in range(30)))
        return clock.monotonic() - started

    assert clock.run(take_all) == pytest.approx(2 * WINDOW)


def test_more_than_the_limit_takes_the_whole_of_it_instead_of_waiting_for_ever() -> None:
    async def take() -> float:
        return (await SlidingMinute(10, window=WINDOW).take(1000)).units

    assert clock.run(lambda: asyncio.wait_for(take(), 5)) == 10


def test_what_an_estimate_had_too_much_is_given_back() -> None:
    async def third_waits(settled: int) -> bool:
        minute = SlidingMinute(100, window=WINDOW)
        first = await minute.take(50)
        await minute.take(50)
        minute.correct(first, settled)
        try:
            await asyncio.wait_for(minute.take(50), WINDOW / 4)
        except TimeoutError:
            return True
        return False

    assert not clock.run(lambda: third_waits(settled=0))
    assert clock.run(lambda: third_waits(settled=40))


def test_a_correction_that_comes_after_its_minute_gives_nothing_back() -> None:
    async def third_waits() -> bool:
        minute = SlidingMinute(100, window=WINDOW)
        first = await minute.take(100)
        await asyncio.sleep(WINDOW)
        await minute.take(60)
        minute.correct(first, 0)
        asked = clock.monotonic()
        await minute.take(60)
        return clock.monotonic() - asked > 0

    assert clock.run(third_waits)


def test_a_minute_outlives_the_event_loop_it_began_in() -> None:
    minute = SlidingMinute(2, window=WINDOW)

    async def take(n: int) -> None:
        await asyncio.gather(*(minute.take(1) for _ in range(n)))

    started = clock.monotonic()
    clock.run(lambda: take(2))
    clock.run(lambda: take(2))
    assert clock.monotonic() - started == pytest.approx(WINDOW)


def most_in_flight(limits: ModelLimits, n: int) -> int:
    most = 0

    async def one() -> None:
        nonlocal most
        async with limits.attempt(1, CircuitBreaker("it")):
            most = max(most, limits.in_flight)
            await asyncio.sleep(0.002)

    async def run() -> None:
        await asyncio.gather(*(one() for _ in range(n)))

    clock.run(run)
    return most


def test_a_refusal_halves_what_is_in_flight_once_however_many_say_it_at_once() -> None:
    limits = model_limits(concurrency=4)
    assert most_in_flight(limits, 40) == 4
    for _ in range(10):
        limits.throttled(None)
    assert limits.allowed == 2
    assert most_in_flight(limits, 40) == 2


@pytest.mark.parametrize("limit", ["rpm", "tpm"])
def test_a_pause_that_begins_while_a_minute_is_waited_for_is_kept_to_as_well(
    monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(SlidingMinute.__init__, "__defaults__", (WINDOW,))

    async def run() -> float:
        limits = model_limits(**{limit: 1})
        async with limits.attempt(1, CircuitBreaker("it")):
            pass
        asked = clock.monotonic()

        async def second() -> float:
            async with limits.attempt(1, CircuitBreaker("it")):
                return clock.monotonic() - asked

        waiting = asyncio.create_task(second())
        await asyncio.sleep(0.05)
        limits.throttled(0.35)
        return await waiting

    # The minute is over after 0.2 s, the pause 0.35 s after the 0.05 s.
    assert clock.run(run) == pytest.approx(0.4)


def test_an_attempt_begins_when_it_may_go_not_when_it_came() -> None:
    async def run() -> tuple[float, float]:
        limits = model_limits(concurrency=1)
        asked = clock.monotonic()

        async def hold() -> None:
            async with limits.attempt(1, CircuitBreaker("it")):
                await asyncio.sleep(0.1)

        async def wait() -> float:
            async with limits.attempt(1, CircuitBreaker("it")):
                return clock.monotonic() - asked

        _, placed = await asyncio.gather(hold(), wait())
        limits.throttled(0.1)
        asked = clock.monotonic()
        return placed, await wait()

    placed, allowed = clock.run(run)
    assert (placed, allowed) == pytest.approx((0.1, 0.1))


def test_a_cancelled_wait_leaves_its_place_to_the_next() -> None:
    async def run() -> int:
        limits = model_limits(concurrency=1)
        entered = asyncio.Event()

        async def hold() -> None:
            async with limits.attempt(1, CircuitBreaker("it")):
                entered.set()
                await asyncio.sleep(0.05)

        async def wait() -> str:
            async with limits.attempt(1, CircuitBreaker("it")):
                return "served"

        holder = asyncio.create_task(hold())
        await entered.wait()
        gone, stays = asyncio.create_task(wait()), asyncio.create_task(wait())
        await asyncio.sleep(0)
        gone.cancel()
        assert await asyncio.wait_for(stays, 5) == "served"
        await holder
        return limits.in_flight

    assert clock.run(run) == 0
