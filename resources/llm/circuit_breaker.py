"""The circuit breaker of one model's server within one stage.

While the breaker is closed, every attempt may be sent. After `OPEN_AFTER` failures in a row it
opens: nothing is sent during a pause. Then it is half open: one attempt probes the server, and the
others wait. A reply to the probe closes the breaker; a failure opens it again for twice as long.
After `give_up_seconds` without a useful reply, the stage stops asking the server. Each stage
begins with a closed breaker.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from resources.llm.watchdog import waits_for

OPEN_AFTER = 10
"""Failed attempts in a row, other than by a rate limit, after which the breaker opens."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds of the first and of the longest pause."""


class ProviderDown(Exception):
    """The server failed for `give_up_seconds`; the stage sends nothing more to it.

    Attributes:
        has_replied: Whether the server replied, although only with errors.
    """

    def __init__(self, message: str, *, has_replied: bool):
        super().__init__(message)
        self.has_replied = has_replied


class CircuitBreaker:
    """Pauses, probes and gives up one server. It belongs to one stage and its event loop.

    The time without a reply is only counted while requests are in flight or
    attempts wait for the breaker.

    Args:
        model: Name of the entry in models.yaml, for the sentence of ProviderDown.
        give_up_seconds: Seconds without a reply after which the server is given up; inf for never.
    """

    def __init__(self, model: str, give_up_seconds: float = math.inf):
        self._model, self._give_up_seconds = model, give_up_seconds
        self._given_up = False
        self._failures = 0
        self._openings = 0
        self._open_until = -math.inf
        self._opened_at = -math.inf
        self._probe: asyncio.Future[None] | None = None
        self._last_error = ""
        self._in_flight: set[asyncio.Timeout] = set()
        self._seconds_before = 0.0
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def admit(self) -> AsyncIterator[None]:
        """Wait until an attempt may be sent, and send it inside the block.

        Raises:
            ProviderDown: The server is given up, before or while this attempt waits.
        """
        probe = await self._wait_until_admitted()
        try:
            yield
        finally:
            if probe is not None:
                self._probe = None
                probe.set_result(None)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Count the time of the block as time without a reply, until `replied` is called.

        Raises:
            ProviderDown: The server is given up; every other block ends with it, too.
        """
        self._check()
        try:
            async with asyncio.timeout(None) as timeout:
                self._start_clock(timeout)
                try:
                    yield
                finally:
                    self._stop_clock(timeout)
        except TimeoutError:
            if timeout.expired():
                raise self._provider_down() from None
            raise

    def replied(self) -> None:
        """Close the breaker: the server replied, and not with a server error."""
        self._failures = self._openings = 0
        self._last_error = ""
        self._seconds_before = 0.0
        if self._in_flight:
            self._since = _current_time()

    def failed(self, sent_at: float, error: str = "") -> None:
        """Count an attempt that got no reply or a server error.

        Args:
            sent_at: Time of the event loop when the attempt was sent. Attempts from before the last
                opening of the breaker are ignored.
            error: The server's error message, if any.
        """
        self._last_error = error or self._last_error
        if sent_at <= self._opened_at:
            return
        self._failures += 1
        # A probe that fails opens the breaker at once.
        if self._failures >= OPEN_AFTER or self._openings:
            self._failures = 0
            self._opened_at = _current_time()
            pause = min(FIRST_PAUSE * 2 ** min(self._openings, 10), LONGEST_PAUSE)
            self._open_until = self._opened_at + pause
            self._openings += 1

    async def _wait_until_admitted(self) -> asyncio.Future[None] | None:
        """Wait until an attempt may be sent. Returns a future if this attempt is the probe;
        None if the breaker is closed.
        """
        self._check()
        while self._openings:
            waits_for(f"the server of {self._model}, which failed, to be tried again")
            async with self.listening():
                pause = self._open_until - _current_time()
                if pause > 0:
                    await asyncio.sleep(pause)
                elif self._probe is None:
                    self._probe = asyncio.get_running_loop().create_future()
                    return self._probe
                else:
                    await asyncio.wait([self._probe])
        return None

    def _check(self) -> None:
        if self._given_up:
            raise self._provider_down()

    def _start_clock(self, timeout: asyncio.Timeout) -> None:
        if not self._in_flight:
            self._since = _current_time()
            if math.isfinite(self._give_up_seconds):
                loop = asyncio.get_running_loop()
                seconds = self._give_up_seconds - self._seconds_before
                self._timer = loop.call_later(seconds, self._give_up_if_due)
        self._in_flight.add(timeout)

    def _stop_clock(self, timeout: asyncio.Timeout) -> None:
        self._in_flight.discard(timeout)
        if not self._in_flight:
            self._seconds_before += _current_time() - self._since
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _give_up_if_due(self) -> None:
        current_time = _current_time()
        seconds = self._give_up_seconds - self._seconds_before - (current_time - self._since)
        if seconds > 0:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(seconds, self._give_up_if_due)
            return
        self._given_up = True
        for timeout in self._in_flight:
            timeout.reschedule(current_time)

    def _provider_down(self) -> ProviderDown:
        what = "gave no reply"
        if self._last_error:
            what = f"replied only with errors ({self._last_error.rstrip('.')})"
        return ProviderDown(
            f"The server of {self._model} {what} for {self._give_up_seconds:g} seconds "
            "(give_up_seconds), so the stage stopped asking it. Start the server, or raise "
            "give_up_seconds of the entry in models.yaml if the server needs longer, and run again.",
            has_replied=bool(self._last_error),
        )


def _current_time() -> float:
    return asyncio.get_running_loop().time()
