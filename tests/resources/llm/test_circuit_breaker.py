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

clock = VirtualTime()


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": clock.new_loop}


class Server:
    """A server that answers 503 until `up_at`, in virtual time."""

    def __init__(self, up_at: float):
        self.up_at = up_at
        self.sent_while_down = 0

    async def ask(self, breaker: CircuitBreaker) -> bool:
        sent_at = clock.now
        async with breaker.listening():
            await asyncio.sleep(0.01)
        if sent_at >= self.up_at:
            breaker.replied()
            return True
        self.sent_while_down += 1
        breaker.failed(sent_at, "503 overloaded")
        return False


async def stage(server: Server, n: int = 200) -> Counter[str]:
    """Outcomes of `n` requests of one stage, each with six attempts and waits between them."""
    limits, breaker = ModelLimits(16), CircuitBreaker("it", 300.0)

    async def request() -> str:
        for attempt in range(ATTEMPTS):
            try:
                async with limits.attempt(1, breaker):
                    if await server.ask(breaker):
                        return "answered"
            except ProviderDown:
                return "unreachable"
            await asyncio.sleep(min(0.5 * 2**attempt, 30))
        return "server_error"

    return Counter(await asyncio.gather(*(request() for _ in range(n))))


@pytest.mark.parametrize("minutes", [0.5, 4.5])
async def test_a_stage_waits_for_a_server_that_comes_back_within_give_up_seconds(minutes):
    server = Server(clock.now + minutes * MINUTE)

    outcomes = await stage(server)

    assert outcomes["answered"] >= 198, "a request that probed six times may be lost"
    # The longest pause after the server is back, and the work itself.
    assert clock.now - server.up_at < 40
    assert server.sent_while_down < 60


async def test_a_server_that_stays_away_is_given_up_after_give_up_seconds():
    began = clock.now

    outcomes = await stage(Server(began + 6 * MINUTE))

    assert outcomes["unreachable"] >= 190 and outcomes["answered"] == 0
    assert clock.now - began == pytest.approx(300, abs=35)


async def test_a_server_that_answers_at_times_or_is_not_asked_is_not_given_up():
    breaker = CircuitBreaker("it", 5)

    async def listen(n: int, *, replies: bool) -> None:
        for number in range(n):
            async with breaker.listening():
                await asyncio.sleep(2)
            if replies and number % 2:
                breaker.replied()

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


def breaker_after(n_failed: int) -> CircuitBreaker:
    breaker = CircuitBreaker("it")
    for _ in range(n_failed):
        breaker.failed(clock.now)
    return breaker


async def seconds_to_enter(breaker: CircuitBreaker, *, replied: bool | None) -> float:
    """How long an attempt waits; `replied` says how it ends, None for neither way."""
    asked = clock.now
    async with breaker.admit():
        waited = clock.now - asked
        if replied is True:
            breaker.replied()
        elif replied is False:
            breaker.failed(clock.now)
    return waited


async def test_ten_failures_in_a_row_open_it_and_each_failed_probe_doubles_the_pause():
    assert await seconds_to_enter(breaker_after(OPEN_AFTER - 1), replied=True) == 0

    breaker = breaker_after(OPEN_AFTER)
    pauses = [await seconds_to_enter(breaker, replied=False) for _ in range(7)]
    assert pauses == pytest.approx([1, 2, 4, 8, 16, 30, 30])
    assert await seconds_to_enter(breaker, replied=True) == pytest.approx(30)
    assert await seconds_to_enter(breaker, replied=True) == 0
    # A reply between failures begins the row again.
    breaker = breaker_after(OPEN_AFTER - 1)
    for replied in (True, False, True):
        assert await seconds_to_enter(breaker, replied=replied) == 0


@pytest.mark.parametrize("n_failed", [OPEN_AFTER, 3 * OPEN_AFTER])
async def test_attempts_sent_before_it_opened_and_probes_without_an_outcome_do_not_count(n_failed):
    breaker = breaker_after(n_failed)
    assert await seconds_to_enter(breaker, replied=None) == pytest.approx(1)
    assert await seconds_to_enter(breaker, replied=True) == 0


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("", "gave no reply for 5 seconds"),
        ("503 busy.", "replied only with errors (503 busy) for 5 seconds"),
    ],
)
async def test_the_sentence_says_whether_the_server_was_silent_or_answered_with_errors(error, said):
    breaker = CircuitBreaker("it", 5)
    breaker.failed(clock.now, error)
    with pytest.raises(ProviderDown) as raised:
        async with breaker.listening():
            await asyncio.sleep(100)
    assert said in str(raised.value)
