"""The rate limits of one model, and the places of its requests in flight.

Requests and tokens in any sliding minute are in `sliding_minute.py`, pauses for a server that is down
in `circuit_breaker.py`, how many requests may be in flight in `concurrency.py`. The minutes and the
highest concurrency hold over all processes with one workspace (`shared/`); what is learnt from a
server's answers holds for one process, which runs one stage at a time.
"""

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from resources.llm.circuit_breaker import CircuitBreaker
from resources.llm.concurrency import Concurrency
from resources.llm.shared.shared_limits import Places
from resources.llm.sliding_minute import Entry, SlidingMinute
from resources.llm.watchdog import waits_for

BACKED_OFF_SECONDS = 1.0
"""Throttled replies within this time count as one."""
ASK_SECONDS = (0.01, 0.05)
"""Between these a process waits before it looks again for places that others have left."""


class TokenReservation:
    """Tokens reserved for one attempt: estimated before it, corrected after it."""

    def __init__(self, minute: SlidingMinute | None, entry: Entry):
        self._minute, self._entry = minute, entry

    def settle(self, tokens: int) -> None:
        """Replace the estimate by the `tokens` used; 0 releases the reservation."""
        if self._minute is not None:
            self._minute.correct(self._entry, float(tokens))


class ModelLimits:
    """The limits on one model's attempts; 1 to `concurrency` may be in flight.

    Args:
        concurrency: The entry's `concurrency`.
        requests: The requests of a sliding minute, None without a limit.
        tokens: The tokens of a sliding minute, None without a limit.
        places: The places of all processes together.
        timeout: Seconds after which an attempt times out.
    """

    def __init__(
        self,
        concurrency: int,
        requests: SlidingMinute | None = None,
        tokens: SlidingMinute | None = None,
        places: Places | None = None,
        timeout: float = math.inf,
    ):
        self._concurrency = Concurrency(concurrency, timeout)
        self.in_flight = 0
        self.has_answered = False
        """Whether the server answered a request of this run, so that the key is one that it accepts."""
        self._waiting: deque[asyncio.Future[int]] = deque()
        self._requests, self._tokens, self._places = requests, tokens, places
        self._asking: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None
        self._not_before = 0.0
        self._backed_off = -BACKED_OFF_SECONDS

    @asynccontextmanager
    async def attempt(
        self, estimated_tokens: int, breaker: CircuitBreaker
    ) -> AsyncIterator[TokenReservation]:
        """Hold a place for one attempt, once the limits and the breaker allow it.

        Args:
            estimated_tokens: Tokens to reserve in the sliding minute.
            breaker: The circuit breaker of the model's server in this stage.

        Raises:
            ProviderDown: The breaker has given the server up.
        """
        place = await self._enter()
        try:
            async with breaker.admit():
                while (wait := self._pause()) > 0:
                    await asyncio.sleep(wait)
                # Tokens first: they are released if the attempt fails; a request is never released.
                entry = (
                    await self._tokens.take(estimated_tokens, self._pause)
                    if self._tokens
                    else Entry(0.0, 0.0)
                )
                if self._requests:
                    await self._requests.take(1, self._pause)
                yield TokenReservation(self._tokens, entry)
        finally:
            self._leave(place)

    @property
    def allowed(self) -> int:
        """Requests that may be in flight now."""
        return self._concurrency.allowed

    def answered(self, sent_at: float) -> None:
        """The server answered an attempt that was sent at a time of the monotonic clock."""
        before = self.allowed
        # Where fewer are in flight, the answers say nothing about how many the server can take.
        if self.in_flight >= before:
            self._concurrency.answered(sent_at, time.monotonic())
        if self.allowed > before:
            self._wake()

    def timed_out(self, sent_at: float) -> None:
        """An attempt that was sent then got no answer in time: halve the concurrency."""
        self._concurrency.timed_out(sent_at, time.monotonic())

    def throttled(self, retry_after: float | None) -> None:
        """The server throttled: halve the concurrency, and wait as long as it asked."""
        now = time.monotonic()
        if now - self._backed_off >= BACKED_OFF_SECONDS:
            self._backed_off = now
            self._concurrency.halve(now)
        if retry_after is not None:
            self.pause(retry_after)

    def pause(self, seconds: float) -> None:
        """Send nothing more for so long."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    async def _enter(self) -> int:
        """A place, once there is one."""
        if not self._waiting and not self._others_wait():
            place = self._take()
            if place is not None:
                return place
        waiter: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            waits_for("a place within the concurrency of its model")
            self._wake()
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._leave(waiter.result())
            else:
                self._wake()
            raise
        finally:
            # A place that is given to a caller that is gone would never be left.
            waiter.cancel()

    def _pause(self) -> float:
        return self._not_before - time.monotonic()

    def _leave(self, place: int) -> None:
        self.in_flight -= 1
        try:
            if self._places is not None:
                self._places.leave(place)
        finally:
            self._wake()

    def _wake(self) -> None:
        """Give places to those who wait; if other processes wait, too, chance decides who is first."""
        try:
            if self._next_waiter() and self._others_wait():
                self._ask_later()
            else:
                self._give_places()
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Raise an error where a place is waited for: who leaves one, and a timer, need none."""
        while waiter := self._next_waiter():
            waiter.set_exception(error)

    def _give_places(self) -> None:
        while (waiter := self._next_waiter()) and self.in_flight < self.allowed:
            place = self._take()
            if place is None:
                self._ask_later()
                return
            waiter.set_result(place)
        if self._places is not None and not self._waiting:
            self._places.wait_no_more()

    def _next_waiter(self) -> asyncio.Future[int] | None:
        """The first of those who wait still."""
        while self._waiting and self._waiting[0].done():
            self._waiting.popleft()
        return self._waiting[0] if self._waiting else None

    def _take(self) -> int | None:
        """A place, if there is one in this process and in all of them together."""
        if self.in_flight >= self.allowed:
            return None
        place = self._places.take() if self._places is not None else 0
        if place is not None:
            self.in_flight += 1
        return place

    def _others_wait(self) -> bool:
        return self._places is not None and self._places.others_wait()

    def _ask_later(self) -> None:
        """Ask for places again in a moment, as nobody tells when another process leaves one."""
        loop = asyncio.get_running_loop()
        # A stage's event loop may have ended while it waited.
        if self._places is None or (self._asking is not None and self._asking[0] is loop):
            return
        self._places.wait()
        self._asking = loop, loop.call_later(random.uniform(*ASK_SECONDS), self._ask)

    def _ask(self) -> None:
        self._asking = None
        try:
            self._give_places()
        except Exception as error:
            self._fail(error)
