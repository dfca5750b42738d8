"""Rate limits of one model within one process: requests and tokens in any sliding minute, and requests
in flight.

`concurrency.py` decides how many requests may be in flight, `circuit_breaker.py` pauses when the server
fails. Several runs share the limits by the Dagster pool `models`, which by default lets one step at a
time call models (docs/decisions/0081).
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

from resources.llm.circuit_breaker import CircuitBreaker
from resources.llm.concurrency import Concurrency
from resources.llm.watchdog import waits_for

MINUTE = 60.0
SLACK = 0.5
"""Seconds added to the minute: requests that were sent evenly may arrive in a burst."""
WINDOW = MINUTE + SLACK
BACKED_OFF_SECONDS = 1.0
"""Throttled replies within this time halve the concurrency once."""


class WaitingLine:
    """A queue of tasks that wait for a limit. The first task checks the limit,
    and may sleep until it changes.

    The queue is used by several stages, each with its own event loop.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._order, self._changed = asyncio.Lock(), asyncio.Event()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until the caller is the first in the queue, and stay first during the block."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._order, self._changed = asyncio.Lock(), asyncio.Event()
        async with self._order:
            self._changed.clear()
            yield

    async def sleep(self, seconds: float | None = None) -> None:
        """Sleep within a turn until `wake` is called, but no longer than `seconds`.

        Returns at once if `wake` was called since the turn began or the last sleep ended.
        """
        if seconds is None:
            await self._changed.wait()
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
        self._changed.clear()

    def wake(self) -> None:
        """Wake the first task, because the limit may have changed."""
        self._changed.set()


@dataclass(slots=True)
class WindowUsage:
    """Units (requests or tokens) that were taken at a time of the monotonic clock."""

    at: float
    units: float


class SlidingMinute:
    """At most `limit` units in any window of a minute; waiters are served in order.

    A leaky bucket would let through up to twice the limit in its first minute, and could not return
    unused units. So the window is an exact log of the last minute.
    """

    def __init__(self, limit: int, window: float = WINDOW):
        self.limit, self.window = float(limit), window
        self._taken: deque[WindowUsage] = deque()
        self._sum = 0.0
        self._line = WaitingLine()

    async def take(self, units: float, pause: Callable[[], float] = lambda: 0.0) -> WindowUsage:
        """Take units as soon as they fit into the limit.

        Args:
            units: The units; at most the limit is taken.
            pause: Returns for how many seconds sending is still paused.

        Returns:
            The usage, for `correct`.
        """
        units = min(units, self.limit)
        async with self._line.turn():
            while (wait := max(pause(), self._seconds_until(units))) > 0:
                waits_for("room within a limit per minute")
                await self._line.sleep(wait)
            entry = WindowUsage(time.monotonic(), units)
            self._taken.append(entry)
            self._sum += units
            return entry

    def correct(self, entry: WindowUsage, units: float) -> None:
        """Replace the estimated units of a usage by the actual ones.

        Args:
            entry: The usage.
            units: The actual units.
        """
        if not self._taken or entry.at < self._taken[0].at:
            return
        self._sum += units - entry.units
        is_reduced = units < entry.units
        entry.units = units
        if is_reduced:
            self._line.wake()

    def _seconds_until(self, units: float) -> float:
        current_time = time.monotonic()
        while self._taken and self._taken[0].at <= current_time - self.window:
            self._sum -= self._taken.popleft().units
        over = self._sum + units - self.limit
        for use in self._taken:
            if over <= 1e-9:
                break
            over -= use.units
            if over <= 1e-9:
                # The caller checks again after that time, as usages may have been corrected.
                return max(use.at + self.window - current_time, 0.001)
        return 0.0


class ModelLimits:
    """The limits on one model's attempts; 1 to `concurrency` may be in flight.

    Args:
        concurrency: The entry's `concurrency`.
        requests: The requests of a sliding minute, None without a limit.
        tokens: The tokens of a sliding minute, None without a limit.
        timeout: Seconds after which an attempt times out.
    """

    def __init__(
        self,
        concurrency: int,
        requests: SlidingMinute | None = None,
        tokens: SlidingMinute | None = None,
        timeout: float = math.inf,
    ):
        self._concurrency = Concurrency(concurrency, timeout)
        self.in_flight = 0
        self.has_answered = False
        """Whether the server has answered in this run, which shows that it accepts the API key."""
        self._requests, self._tokens = requests, tokens
        self._line, self._n_entering = WaitingLine(), 0
        self._not_before = 0.0
        self._backed_off = -BACKED_OFF_SECONDS

    @asynccontextmanager
    async def attempt(
        self, estimated_tokens: int, breaker: CircuitBreaker
    ) -> AsyncIterator[Callable[[int], None]]:
        """Wait until the limits and the breaker allow an attempt, and count it as in flight until the
        block ends.

        Yields a function that replaces the estimate by the tokens used; 0 releases them.

        Args:
            estimated_tokens: Tokens to reserve in the sliding minute.
            breaker: The circuit breaker of the model's server in this stage.

        Raises:
            ProviderDown: The stage has stopped asking the server.
        """
        await self._enter()
        try:
            async with breaker.admit():
                while (wait := self._pause()) > 0:
                    await asyncio.sleep(wait)
                # Tokens first: they are released if the attempt fails; a request is never released.
                settle_tokens: Callable[[int], None] = _no_limit
                if self._tokens:
                    entry = await self._tokens.take(estimated_tokens, self._pause)
                    settle_tokens = partial(self._tokens.correct, entry)
                if self._requests:
                    await self._requests.take(1, self._pause)
                yield settle_tokens
        finally:
            self.in_flight -= 1
            self._line.wake()

    @property
    def allowed(self) -> int:
        """Requests that may be in flight now."""
        return self._concurrency.allowed

    def answered(self, sent_at: float) -> None:
        """Record that the server answered an attempt that was sent at a time of the monotonic clock."""
        before = self.allowed
        # An answer only shows how many requests the server can take if all allowed requests are in
        # flight; waiting requests count.
        if self.in_flight + self._n_entering >= before:
            self._concurrency.answered(sent_at, time.monotonic())
        if self.allowed > before:
            self._line.wake()

    def timed_out(self, sent_at: float) -> None:
        """Halve the concurrency, because an attempt that was sent at `sent_at` timed out."""
        self._concurrency.timed_out(sent_at, time.monotonic())

    def throttled(self, retry_after: float | None) -> None:
        """Halve the concurrency after a rate limit error, and pause as long as the server asked."""
        current_time = time.monotonic()
        if current_time - self._backed_off >= BACKED_OFF_SECONDS:
            self._backed_off = current_time
            self._concurrency.halve(current_time)
        if retry_after is not None:
            self.pause(retry_after)

    def pause(self, seconds: float) -> None:
        """Send no request for `seconds`."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    async def _enter(self) -> None:
        """Wait until one more request may be in flight."""
        self._n_entering += 1
        try:
            async with self._line.turn():
                while self.in_flight >= self.allowed:
                    waits_for("a place within the concurrency of its model")
                    await self._line.sleep()
                self.in_flight += 1
        finally:
            self._n_entering -= 1

    def _pause(self) -> float:
        return self._not_before - time.monotonic()


def _no_limit(_tokens: int) -> None:
    """Do nothing: the model has no limit on tokens."""
