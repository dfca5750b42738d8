"""One model's limits: a sliding minute, and a concurrency that learns what the server can take."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.llm import rate_limits as module
from resources.llm.circuit_breaker import CircuitBreaker
from resources.llm.concurrency import START, Concurrency
from resources.llm.rate_limits import ModelLimits, SlidingMinute
from tests.doubles.virtual_time import VirtualTime

WINDOW = 0.2
"""Seconds that stand for a minute here."""

clock = VirtualTime()


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": clock.new_loop}


@pytest.fixture(scope="module", autouse=True)
def under_virtual_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "time", clock)
        yield


async def seconds_of(waiting: "asyncio.Future[object]") -> float:
    begun = clock.monotonic()
    await waiting
    return clock.monotonic() - begun


@settings(max_examples=15, deadline=None)
@given(limit=st.integers(1, 20), units=st.lists(st.integers(1, 25), min_size=1, max_size=25))
async def test_no_window_ever_holds_more_than_the_limit(limit, units):
    minute = SlidingMinute(limit, window=0.02)

    entries = await asyncio.gather(*(minute.take(n) for n in units))

    for start in entries:
        inside = sum(each.units for each in entries if start.at <= each.at < start.at + 0.02)
        assert inside <= limit + 1e-6


async def test_a_limit_that_binds_is_used_to_the_full():
    # 30 at 10 a window: the first ten at once, then ten at each end of a window, so two windows.
    minute = SlidingMinute(10, window=WINDOW)
    all_taken = asyncio.gather(*(minute.take(1) for _ in range(30)))
    assert await seconds_of(all_taken) == pytest.approx(2 * WINDOW)


@pytest.mark.parametrize(("settled", "waits"), [(0, False), (40, True)])
async def test_what_an_estimate_had_too_much_is_given_back(settled, waits):
    minute = SlidingMinute(100, window=WINDOW)
    first = await minute.take(50)
    await minute.take(50)
    minute.correct(first, settled)
    assert (await seconds_of(minute.take(50)) > 0) is waits


async def test_a_correction_that_comes_after_its_minute_gives_nothing_back():
    minute = SlidingMinute(100, window=WINDOW)
    first = await minute.take(100)
    await asyncio.sleep(WINDOW)
    await minute.take(60)
    minute.correct(first, 0)
    assert await seconds_of(minute.take(60)) > 0


def test_a_minute_outlives_the_event_loop_it_began_in():
    minute = SlidingMinute(2, window=WINDOW)

    async def take(n: int) -> None:
        await asyncio.gather(*(minute.take(1) for _ in range(n)))

    started = clock.monotonic()
    clock.run(lambda: take(2))
    clock.run(lambda: take(2))
    assert clock.monotonic() - started == pytest.approx(WINDOW)


async def attempt(limits: ModelLimits, seconds: float = 0.0) -> int:
    """One attempt that takes so long; how many are in flight as it begins."""
    async with limits.attempt(1, CircuitBreaker("it")):
        in_flight = limits.in_flight
        await asyncio.sleep(seconds)
    return in_flight


async def test_a_refusal_halves_what_is_in_flight_once_however_many_say_it_at_once():
    limits = ModelLimits(4)
    assert max(await asyncio.gather(*(attempt(limits, 0.002) for _ in range(40)))) == 4
    for _ in range(10):
        limits.throttled(None)
    assert limits.allowed == 2
    assert max(await asyncio.gather(*(attempt(limits, 0.002) for _ in range(40)))) == 2


@pytest.mark.parametrize("place", [0, 1])
async def test_a_pause_that_begins_while_a_minute_is_waited_for_is_kept_to_as_well(place):
    minutes = [None, None]
    minutes[place] = SlidingMinute(1, window=WINDOW)
    limits = ModelLimits(4, *minutes)
    await attempt(limits)
    waiting = asyncio.create_task(seconds_of(attempt(limits)))
    await asyncio.sleep(0.05)
    limits.throttled(0.35)
    # A shorter pause later does not end a longer one.
    limits.throttled(0.1)

    # The minute is over after 0.2 s, the pause 0.35 s after the 0.05 s.
    assert await waiting == pytest.approx(0.4)


async def test_an_attempt_begins_when_it_may_go_not_when_it_came():
    limits = ModelLimits(1)
    _, placed = await asyncio.gather(attempt(limits, 0.1), seconds_of(attempt(limits)))
    limits.throttled(0.1)

    assert (placed, await seconds_of(attempt(limits))) == pytest.approx((0.1, 0.1))


async def test_a_cancelled_wait_leaves_its_place_to_the_next():
    limits = ModelLimits(1)
    holder = asyncio.create_task(attempt(limits, 0.05))
    await asyncio.sleep(0.01)
    gone, stays = asyncio.create_task(attempt(limits)), asyncio.create_task(attempt(limits))
    await asyncio.sleep(0)
    gone.cancel()

    async with asyncio.timeout(5):
        assert await stays == 1
    await holder
    assert limits.in_flight == 0


@dataclass
class Server:
    """Answers `slots` requests at once, `seconds` each; the others wait in its queue."""

    slots: int
    seconds: Callable[[int], float]
    kept: int = 0
    lost: int = 0
    most_allowed: int = 0
    full_at: float | None = None

    async def answer(self, places: asyncio.Semaphore, number: int) -> None:
        async with places:
            await asyncio.sleep(self.seconds(number))


async def ask(server: Server, n: int, *, ceiling: int = 16, timeout: float = 180.0) -> ModelLimits:
    """Send `n` requests, each until it is answered; what the limits are at the end."""
    limits = ModelLimits(ceiling, timeout=timeout)
    breaker, places = CircuitBreaker("it"), asyncio.Semaphore(server.slots)

    async def request(number: int) -> None:
        while True:
            async with limits.attempt(1, breaker):
                sent_at = clock.monotonic()
                try:
                    async with asyncio.timeout(timeout):
                        await server.answer(places, number)
                except TimeoutError:
                    server.lost += 1
                    limits.timed_out(sent_at)
                    continue
                server.kept += 1
                limits.answered(sent_at)
                if limits.allowed == ceiling and server.full_at is None:
                    server.full_at = clock.monotonic()
                server.most_allowed = max(server.most_allowed, limits.allowed)
                return

    await asyncio.gather(*map(request, range(n)))
    return limits


@pytest.mark.parametrize("seconds", [20.0, 25.0, 40.0])
async def test_a_slow_server_with_two_slots_loses_nothing(seconds):
    server = Server(2, lambda _: seconds)

    await ask(server, 64)

    assert (server.kept, server.lost) == (64, 0)
    assert server.most_allowed * seconds / 2 <= 2 / 3 * 180 + seconds


async def test_answers_of_different_length_lose_little():
    server = Server(2, lambda number: 8.0 + number * 7 % 40)

    await ask(server, 120)

    assert server.kept == 120 and server.lost <= 2


@pytest.mark.parametrize(("seconds", "within"), [(0.2, 0.3), (2.0, 3.0), (10.0, 40.0)])
async def test_a_server_that_takes_them_all_gets_them_all_soon(seconds, within):
    server, began = Server(1000, lambda _: seconds), clock.now

    limits = await ask(server, 600, ceiling=64)

    assert limits.allowed == 64 and server.lost == 0
    assert server.full_at is not None and server.full_at - began <= within


async def test_long_answers_of_a_server_with_free_capacity_are_asked_for_at_once():
    """Answers of a minute are long for a timeout of three; as they get no slower, more are sent."""
    server = Server(1000, lambda _: 60.0)

    assert (await ask(server, 200)).allowed == 16 and server.lost == 0


def test_a_timeout_halves_once_for_all_that_were_sent_together_and_leaves_one_at_least():
    one = Concurrency(16, timeout=10)
    for _ in range(START):
        one.answered(sent_at=0, current_time=0.1)
    assert one.allowed == 16

    for _ in range(16):
        one.timed_out(sent_at=1, current_time=11)

    assert one.allowed == 8
    for second in range(12, 22):
        one.timed_out(sent_at=second, current_time=second)
    assert one.allowed == 1


def test_it_grows_by_one_a_round_after_a_rate_limit_and_never_over_the_ceiling():
    one = Concurrency(4, timeout=10)
    one.halve(current_time=0)
    sizes = []
    for second in range(1, 14):
        one.answered(sent_at=second, current_time=second + 0.1)
        sizes.append(one.allowed)

    # Two answers make three of two, and three more make four of three.
    assert sizes == [2, 3, 3, 3, *[4] * 9]
