"""The circuit breaker: closed, open, half open with one probe, given up; a server that comes back."""

import asyncio
from collections import Counter

import pytest

from resources.llm.circuit_breaker import OPEN_AFTER, CircuitBreaker, ProviderDown
from resources.llm.rate_limits import ModelLimits
from tests.doubles.virtual_time import VirtualTime

MINUTE = 60.0
ATTEMPTS = 6
"""Attempts of one request, as entries have them by default."""


class Server:
    """A server that answers 503 until `up_at`, in virtual time."""

    def __init__(self, up_at: float):
        self.up_at = up_at
        self.sent_while_down = 0

    async def ask(self, breaker: CircuitBreaker) -> bool:
        sent_at = asyncio.get_running_loop().time()
        async with breaker.listening():
            await asyncio.sleep(0.01)
        if sent_at >= self.up_at:
            breaker.replied()
            return True
        self.sent_while_down += 1
        breaker.failed(sent_at, "503 overloaded")
        return False


def stage(
    clock: VirtualTime, server: Server, n: int = 200, give_up_seconds: float = 300.0
) -> Counter[str]:
    """Outcomes of `n` requests of one stage, each with six attempts and waits between them."""

    async def request(limits: ModelLimits, breaker: CircuitBreaker) -> str:
        for attempt in range(ATTEMPTS):
            try:
                async with limits.attempt(1, breaker):
                    if await server.ask(breaker):
                        return "answered"
            except ProviderDown:
                return "unreachable"
            await asyncio.sleep(min(0.5 * 2**attempt, 30))
        return "server_error"

    async def run() -> Counter[str]:
        limits, breaker = ModelLimits(16), CircuitBreaker("it", give_up_seconds)
        return Counter(await asyncio.gather(*(request(limits, breaker) for _ in range(n))))

    return clock.run(run)


@pytest.mark.parametrize("minutes", [0.5, 4.5])
def test_a_stage_waits_for_a_server_that_comes_back_within_give_up_seconds(minutes: float) -> None:
    clock = VirtualTime()
    began = clock.now
    server = Server(began + minutes * MINUTE)

    outcomes = stage(clock, server)

    assert outcomes["answered"] >= 198, "a request that probed six times may be lost"
    # The longest pause after the server is back, and the work itself.
    assert clock.now - server.up_at < 40
    assert server.sent_while_down < 60


def test_a_server_that_stays_away_is_given_up_after_give_up_seconds() -> None:
    clock = VirtualTime()
    began = clock.now

    outcomes = stage(clock, Server(began + 6 * MINUTE))

    assert outcomes["unreachable"] >= 190 and outcomes["answered"] == 0
    assert clock.now - began == pytest.approx(300, abs=35)


def test_a_server_that_answers_at_times_or_is_not_asked_is_not_given_up() -> None:
    clock, breaker = VirtualTime(), CircuitBreaker("it", 5)

    async def listen(n: int, *, replies: bool) -> None:
        for number in range(n):
            async with breaker.listening():
                await asyncio.sleep(2)
            if replies and number % 2:
                breaker.replied()

    async def run() -> None:
        await listen(10, replies=True)
        await asyncio.sleep(100)
        async with breaker.listening():
            await asyncio.sleep(4)
            breaker.replied()
            await asyncio.sleep(4)
        breaker.replied()
        await listen(2, replies=False)
        with pytest.raises(ProviderDown):
            await listen(1, replies=False)

    clock.run(run)


def breaker_after(n_failed: int, clock: VirtualTime, **settings: float) -> CircuitBreaker:
    breaker = CircuitBreaker("it", **settings)

    async def run() -> None:
        for _ in range(n_failed):
            breaker.failed(clock.now)

    clock.run(run)
    return breaker


def seconds_to_enter(breaker: CircuitBreaker, clock: VirtualTime, *, replied: bool | None) -> float:
    """How long an attempt waits; `replied` says how it ends, None for neither way."""

    async def run() -> float:
        asked = clock.now
        async with breaker.admit():
            waited = clock.now - asked
            if replied is True:
                breaker.replied()
            elif replied is False:
                breaker.failed(clock.now)
        return waited

    return clock.run(run)


def test_ten_failures_in_a_row_open_it_and_each_failed_probe_doubles_the_pause() -> None:
    clock = VirtualTime()
    assert seconds_to_enter(breaker_after(OPEN_AFTER - 1, clock), clock, replied=True) == 0

    breaker = breaker_after(OPEN_AFTER, clock)
    pauses = [seconds_to_enter(breaker, clock, replied=False) for _ in range(7)]
    assert pauses == pytest.approx([1, 2, 4, 8, 16, 30, 30])
    assert seconds_to_enter(breaker, clock, replied=True) == pytest.approx(30)
    assert seconds_to_enter(breaker, clock, replied=True) == 0


def test_a_reply_between_failures_begins_the_row_again() -> None:
    clock = VirtualTime()
    breaker = breaker_after(OPEN_AFTER - 1, clock)
    seconds_to_enter(breaker, clock, replied=True)
    assert seconds_to_enter(breaker, clock, replied=False) == 0
    assert seconds_to_enter(breaker, clock, replied=True) == 0


def test_attempts_that_were_sent_before_it_opened_do_not_count() -> None:
    clock = VirtualTime()
    breaker = breaker_after(3 * OPEN_AFTER, clock)
    assert seconds_to_enter(breaker, clock, replied=True) == pytest.approx(1)


def test_a_probe_that_ends_without_an_outcome_leaves_the_probe_to_another() -> None:
    clock = VirtualTime()
    breaker = breaker_after(OPEN_AFTER, clock)
    assert seconds_to_enter(breaker, clock, replied=None) == pytest.approx(1)
    assert seconds_to_enter(breaker, clock, replied=True) == 0


def test_the_sentence_says_whether_the_server_was_silent_or_answered_with_errors() -> None:
    clock = VirtualTime()

    async def give_up(error: str) -> str:
        breaker = CircuitBreaker("it", 5)
        breaker.failed(clock.now, error)
        with pytest.raises(ProviderDown) as raised:
            async with breaker.listening():
                await asyncio.sleep(100)
        return str(raised.value)

    assert "gave no reply for 5 seconds" in clock.run(lambda: give_up(""))
    assert "replied only with errors (503 busy) for 5 seconds" in clock.run(
        lambda: give_up("503 busy.")
    )
