"""How many requests a server is sent at once: what it can take, in virtual time."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from resources.llm import rate_limits as module
from resources.llm.circuit_breaker import CircuitBreaker
from resources.llm.concurrency import START, Concurrency
from resources.llm.rate_limits import ModelLimits
from tests.doubles.virtual_time import VirtualTime

clock = VirtualTime()


@pytest.fixture(autouse=True)
def under_virtual_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module, "time", clock)
    yield


@dataclass
class Server:
    """Answers `slots` requests at once, `seconds` each; the others wait in its queue."""

    slots: int
    seconds: float | Callable[[int], float]
    kept: int = 0
    lost: int = 0
    most_allowed: int = 0
    full_at: float | None = None
    answers: list[float] = field(default_factory=list)

    async def answer(self, places: asyncio.Semaphore, number: int) -> None:
        async with places:
            took = self.seconds if isinstance(self.seconds, float) else self.seconds(number)
            await asyncio.sleep(took)


def ask(server: Server, n: int, *, ceiling: int = 16, timeout: float = 180.0) -> ModelLimits:
    """Send `n` requests, each until it is answered; what the limits are at the end."""

    async def request(
        limits: ModelLimits, breaker: CircuitBreaker, places: asyncio.Semaphore, number: int
    ) -> None:
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

    async def run() -> ModelLimits:
        limits = ModelLimits(ceiling, timeout=timeout)
        breaker, places = CircuitBreaker("it"), asyncio.Semaphore(server.slots)
        await asyncio.gather(*(request(limits, breaker, places, number) for number in range(n)))
        return limits

    return clock.run(run)


@pytest.mark.parametrize("seconds", [20.0, 25.0, 40.0])
def test_a_slow_server_with_two_slots_loses_nothing(seconds: float) -> None:
    server = Server(2, seconds)

    ask(server, 64)

    assert (server.kept, server.lost) == (64, 0)
    assert server.most_allowed * seconds / 2 <= 2 / 3 * 180 + seconds


def test_answers_of_different_length_lose_little() -> None:
    server = Server(2, lambda number: 8.0 + number * 7 % 40)

    ask(server, 120)

    assert server.kept == 120 and server.lost <= 2


@pytest.mark.parametrize(("seconds", "within"), [(0.2, 0.3), (2.0, 3.0), (10.0, 40.0)])
def test_a_server_that_takes_them_all_gets_them_all_soon(seconds: float, within: float) -> None:
    server, began = Server(1000, seconds), clock.now

    limits = ask(server, 600, ceiling=64)

    assert limits.allowed == 64 and server.lost == 0
    assert server.full_at is not None and server.full_at - began <= within


def test_long_answers_of_a_server_with_free_capacity_are_asked_for_at_once() -> None:
    """Answers of a minute are long for a timeout of three; as they get no slower, more are sent."""
    server = Server(1000, 60.0)

    assert ask(server, 200).allowed == 16 and server.lost == 0


def test_a_timeout_halves_once_for_all_that_were_sent_together() -> None:
    one = Concurrency(16, timeout=10, current_time=0)
    for _ in range(START):
        one.answered(sent_at=0, current_time=0.1)
    assert one.allowed == 16

    for _ in range(16):
        one.timed_out(sent_at=1, current_time=11)

    assert one.allowed == 8


def test_it_grows_by_one_a_round_after_a_rate_limit_and_never_over_the_ceiling() -> None:
    one = Concurrency(4, timeout=10, current_time=0)
    one.halve(current_time=0)
    sizes = []
    for second in range(1, 14):
        one.answered(sent_at=second, current_time=second + 0.1)
        sizes.append(one.allowed)

    # Two answers make three of two, and three more make four of three.
    assert sizes == [2, 3, 3, 3, *[4] * 9]


def test_the_floor_is_one() -> None:
    one = Concurrency(16, timeout=10, current_time=0)
    for second in range(10):
        one.timed_out(sent_at=second, current_time=second)

    assert one.allowed == 1
