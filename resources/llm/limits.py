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
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from resources.llm.circuit_breaker import CircuitBreaker
from resources.llm.concurrency import Concurrency
from resources.llm.shared.shared_limits import Places
from resources.llm.sliding_minute import Entry, SlidingMinute
from resources.llm.waiting_line import WaitingLine
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
        self._requests, self._tokens, self._places = requests, tokens, places
        self._line, self._n_entering = WaitingLine(), 0
        self._may_be_marked = False
        """Whether other processes may know that this one waits for a place."""
        self._ask_at: float | None = None
        """When this process looks for a place, as others wait for one or have all."""
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
        # Where fewer are in flight, the answers say nothing about how many the server can take. Those
        # that are about to follow others count, unless other processes have their places.
        n_entering = self._n_entering if self._ask_at is None else 0
        if self.in_flight + n_entering >= before:
            self._concurrency.answered(sent_at, time.monotonic())
        if self.allowed > before:
            self._line.wake()

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
        self._n_entering += 1
        try:
            async with self._line.turn():
                while (place := await self._take()) is None:
                    waits_for("a place within the concurrency of its model")
                    now = time.monotonic()
                    await self._line.sleep(None if self._ask_at is None else self._ask_at - now)
                self.in_flight += 1
                return place
        finally:
            self._n_entering -= 1
            if not self._n_entering:
                self._wait_no_more()

    def _pause(self) -> float:
        return self._not_before - time.monotonic()

    def _leave(self, place: int) -> None:
        """Leave a place. Nobody waits for that: the answer that came goes on to the ledger."""
        self.in_flight -= 1
        places = self._places
        try:
            if places is not None:
                places.calls.later(lambda: places.leave(place))
        finally:
            self._line.wake()

    async def _take(self) -> int | None:
        """A place, if there is one in this process and in all of them together.

        If other processes wait, too, chance decides who is first.
        """
        places = self._places
        if self.in_flight >= self.allowed:
            self._ask_at = None
            return None
        if places is None:
            return 0
        is_due = self._ask_at is not None and time.monotonic() >= self._ask_at
        was_marked, self._may_be_marked = self._may_be_marked, True
        place = await places.calls.take(lambda: places.enter(is_due), places.give_back)
        if place is not None:
            self._may_be_marked = was_marked
        elif is_due or self._ask_at is None:
            self._ask_at = time.monotonic() + random.uniform(*ASK_SECONDS)
        return place

    def _wait_no_more(self) -> None:
        self._ask_at = None
        if self._places is not None and self._may_be_marked:
            self._may_be_marked = False
            self._places.calls.later(self._places.wait_no_more)
