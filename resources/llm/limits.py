"""The rate limits of one model, and a circuit breaker for its server.

What belongs here: requests and tokens in any sliding minute, a concurrency limit that halves when the
server throttles and recovers, a breaker that pauses for a server that is down. What does not: which
error means what (`errors.py`) and retrying (`model_calls.py`). The limits hold for one process, which
runs one stage at a time.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MINUTE = 60.0
SLACK = 0.5
"""Seconds added to the minute: requests sent evenly may arrive bunched by the network's jitter."""
BACKED_OFF_SECONDS = 1.0
"""Throttled replies within this time count as one."""
BREAK_AFTER = 10
"""Attempts that fail in a row, other than by a rate limit, after which the breaker opens."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
MAX_BREAKS = 6
"""Pauses in a row without an answer after which the model is given up."""


class ProviderDown(Exception):
    """The model's server gave no answer between the pauses; nothing more is sent to it."""


class TokenReservation:
    """Tokens reserved for one attempt: estimated before it, corrected after it."""

    def __init__(self, minute: "SlidingMinute | None", entry: list[float]):
        self._minute, self._entry = minute, entry
        self.began = time.monotonic()

    def settle(self, tokens: int) -> None:
        """Replace the estimate by the `tokens` used; 0 releases the reservation."""
        if self._minute is not None:
            self._minute.correct(self._entry, float(tokens))


class SlidingMinute:
    """At most `limit` units in any window of a minute; waiters are served in order."""

    def __init__(self, limit: int, window: float = MINUTE + SLACK):
        self.limit, self.window = float(limit), window
        self._taken: deque[list[float]] = deque()
        self._sum = 0.0
        self._order: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def take(self, units: float, pause: Callable[[], float] = lambda: 0.0) -> list[float]:
        """Take `units`, once they fit and no `pause`, in seconds, is left.

        More units than the limit count as the whole limit.
        """
        units = min(units, self.limit)
        async with self._in_order():
            while (wait := max(self._seconds_until(units), pause())) > 0:
                await asyncio.sleep(wait)
            entry = [time.monotonic(), units]
            self._taken.append(entry)
            self._sum += units
            return entry

    def correct(self, entry: list[float], units: float) -> None:
        """Make an entry count as `units`."""
        if self._taken and entry[0] >= self._taken[0][0]:
            self._sum += units - entry[1]
            entry[1] = units

    def _in_order(self) -> asyncio.Lock:
        # This object outlives a stage, and each stage has an event loop of its own.
        loop = asyncio.get_running_loop()
        if self._order is None or self._loop is not loop:
            self._order, self._loop = asyncio.Lock(), loop
        return self._order

    def _seconds_until(self, units: float) -> float:
        now = time.monotonic()
        while self._taken and self._taken[0][0] <= now - self.window:
            self._sum -= self._taken.popleft()[1]
        over = self._sum + units - self.limit
        for taken_at, taken in self._taken:
            if over <= 1e-9:
                break
            over -= taken
            if over <= 1e-9:
                # Checked again then: an attempt may have been corrected to less or more meanwhile.
                return max(taken_at + self.window - now, 0.001)
        return 0.0


class ModelLimits:
    """The limits on one model's attempts; 1 to `concurrency` may be in flight."""

    def __init__(
        self, concurrency: int, requests_per_minute: int | None, tokens_per_minute: int | None
    ):
        self.ceiling = concurrency
        self.allowed = float(concurrency)
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._requests = SlidingMinute(requests_per_minute) if requests_per_minute else None
        self._tokens = SlidingMinute(tokens_per_minute) if tokens_per_minute else None
        self._not_before = 0.0
        self._backed_off = -BACKED_OFF_SECONDS
        self._lost_in_a_row = 0
        self._broke_at = float("-inf")
        self._breaks = 0

    @asynccontextmanager
    async def attempt(self, estimated_tokens: int) -> AsyncIterator[TokenReservation]:
        """A place for one attempt. Raises ProviderDown once the model is given up."""
        await self._enter()
        try:
            while True:
                if self._breaks > MAX_BREAKS:
                    raise ProviderDown("The server has not answered for minutes; it was given up.")
                wait = self._pause()
                if wait <= 0:
                    break
                await asyncio.sleep(wait)
            # Tokens first: they are released if the attempt fails; a request is never released.
            entry = (
                await self._tokens.take(estimated_tokens, self._pause)
                if self._tokens
                else [0.0, 0.0]
            )
            if self._requests:
                await self._requests.take(1, self._pause)
            yield TokenReservation(self._tokens, entry)
        finally:
            self._leave()

    def answered(self) -> None:
        """The server answered: raise the concurrency by one for each round of answers."""
        self._lost_in_a_row = self._breaks = 0
        self.allowed = min(self.ceiling, self.allowed + 1 / self.allowed)
        self._wake()

    def throttled(self, retry_after: float | None) -> None:
        """The server throttled: halve the concurrency, and wait as long as it asked."""
        now = time.monotonic()
        if now - self._backed_off >= BACKED_OFF_SECONDS:
            self._backed_off = now
            self.allowed = max(1.0, self.allowed / 2)
        if retry_after is not None:
            self._not_before = max(self._not_before, now + retry_after)

    def lost(self, reservation: TokenReservation) -> None:
        """An attempt got no answer; many in a row open the breaker, each time for a longer pause."""
        # An attempt that began before a pause says nothing about the server after it.
        if reservation.began < self._broke_at:
            return
        self._lost_in_a_row += 1
        if self._lost_in_a_row >= BREAK_AFTER:
            self._lost_in_a_row = 0
            self._broke_at = time.monotonic()
            pause = min(FIRST_PAUSE * 2**self._breaks, LONGEST_PAUSE)
            self._breaks += 1
            self._not_before = max(self._not_before, time.monotonic() + pause)

    async def _enter(self) -> None:
        if self.in_flight < int(self.allowed) and not self._waiting:
            self.in_flight += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()
            raise

    def _pause(self) -> float:
        return self._not_before - time.monotonic()

    def _leave(self) -> None:
        self.in_flight -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.in_flight < int(self.allowed):
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)
