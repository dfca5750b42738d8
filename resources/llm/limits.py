"""What one model may be asked at once and per minute, learnt and kept to.

What belongs here: requests and tokens in any sliding minute, the number in flight that backs off when
the server says so and recovers, the breaker that stops asking a server that is down. What does not:
which error means what (`errors.py`) and asking again (`session.py`). One process, one stage at a time.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MINUTE = 60.0
SLACK = 0.5
"""Seconds added to the minute: what leaves evenly may arrive bunched by the network's jitter."""
BACKED_OFF_SECONDS = 1.0
"""Refusals within this time are one message from the server, not several."""
BREAK_AFTER = 10
"""Attempts lost in a row, to anything but a rate limit, after which the server is taken for down."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
MAX_BREAKS = 6
"""Pauses in a row without one answer after which the model is given up."""


class ProviderDown(Exception):
    """The model's server answered nothing through every pause; nothing more is sent to it."""


class Lease:
    """Tokens taken for one attempt: estimated before it, settled or given back after it."""

    def __init__(self, minute: "SlidingMinute | None", entry: list[float]):
        self._minute, self._entry = minute, entry
        self.began = time.monotonic()

    def settle(self, tokens: int) -> None:
        """The attempt used `tokens`, whatever was estimated; 0 gives them back."""
        if self._minute is not None:
            self._minute.correct(self._entry, float(tokens))


class SlidingMinute:
    """At most `limit` units in any window of a minute; those who wait are served in order."""

    def __init__(self, limit: int, window: float = MINUTE + SLACK):
        self.limit, self.window = float(limit), window
        self._taken: deque[list[float]] = deque()
        self._sum = 0.0
        self._turn: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def take(self, units: float, pause: Callable[[], float] = lambda: 0.0) -> list[float]:
        """Wait until `units` fit (more than the limit are taken for the whole of it) and no `pause`,
        in seconds, is left; and take them."""
        units = min(units, self.limit)
        async with self._in_order():
            while (wait := max(self._seconds_until(units), pause())) > 0:
                await asyncio.sleep(wait)
            entry = [time.monotonic(), units]
            self._taken.append(entry)
            self._sum += units
            return entry

    def correct(self, entry: list[float], units: float) -> None:
        """Make an entry count for `units`."""
        if self._taken and entry[0] >= self._taken[0][0]:
            self._sum += units - entry[1]
            entry[1] = units

    def _in_order(self) -> asyncio.Lock:
        # The minute outlives a stage, and each stage has an event loop of its own.
        loop = asyncio.get_running_loop()
        if self._turn is None or self._loop is not loop:
            self._turn, self._loop = asyncio.Lock(), loop
        return self._turn

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
                # Looked at again then: an attempt may have been settled for less or more meanwhile.
                return max(taken_at + self.window - now, 0.001)
        return 0.0


class ModelLimits:
    """Everything one model's attempts go through; `concurrency` is the most in flight, 1 the least."""

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
    async def attempt(self, estimated_tokens: int) -> AsyncIterator[Lease]:
        """One attempt's place. Raises ProviderDown once the breaker has given the model up."""
        await self._enter()
        try:
            while True:
                if self._breaks > MAX_BREAKS:
                    raise ProviderDown("The server has not answered for minutes; it was given up.")
                wait = self._pause()
                if wait <= 0:
                    break
                await asyncio.sleep(wait)
            # Tokens first: they are given back if the attempt fails, a request never is.
            entry = (
                await self._tokens.take(estimated_tokens, self._pause)
                if self._tokens
                else [0.0, 0.0]
            )
            if self._requests:
                await self._requests.take(1, self._pause)
            yield Lease(self._tokens, entry)
        finally:
            self._leave()

    def answered(self) -> None:
        """The server answered: one more may be in flight after a round of answers."""
        self._lost_in_a_row = self._breaks = 0
        self.allowed = min(self.ceiling, self.allowed + 1 / self.allowed)
        self._wake()

    def throttled(self, retry_after: float | None) -> None:
        """The server said it is asked too much: half as many in flight, nothing before it said."""
        now = time.monotonic()
        if now - self._backed_off >= BACKED_OFF_SECONDS:
            self._backed_off = now
            self.allowed = max(1.0, self.allowed / 2)
        if retry_after is not None:
            self._not_before = max(self._not_before, now + retry_after)

    def lost(self, lease: Lease) -> None:
        """An attempt got no answer; too many in a row are a pause for all, longer each time."""
        # What was under way at a pause says nothing of the server after it.
        if lease.began < self._broke_at:
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
