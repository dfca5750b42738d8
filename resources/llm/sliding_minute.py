"""A limit on units, requests or tokens, in any sliding minute.

What belongs here: the minute as one process sees it. What all processes take of it is in
`shared/shared_limits.py`.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from resources.llm.off_loop import off_loop
from resources.llm.shared.shared_limits import MinuteLog, Turn
from resources.llm.watchdog import waits_for

MINUTE = 60.0
SLACK = 0.5
"""Seconds added to the minute: requests sent evenly may arrive bunched by the network's jitter."""
WINDOW = MINUTE + SLACK
ASK_SECONDS = 1.0
"""Seconds after which a process looks again for units that others have released."""


@dataclass(eq=False, slots=True)
class Entry:
    """Units that were taken at a time; `number` is that of its row in the log."""

    at: float
    units: float
    number: int = 0


class SlidingMinute:
    """At most `limit` units in any window of a minute; waiters are served in order.

    With a `log` the limit holds over all processes that write it.
    """

    def __init__(self, limit: int, log: MinuteLog | None = None, window: float = WINDOW):
        self.limit, self.window = float(limit), window
        self._log = log
        self._may_wait = log is not None and log.may_wait
        # What was taken is read and changed by threads if a server is asked.
        self._one_at_a_time = threading.Lock()
        self._taken: deque[Entry] = deque()
        self._by_number: dict[int, Entry] = {}
        self._sum = 0.0
        self._order: asyncio.Lock | None = None
        self._released = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def take(self, units: float, pause: Callable[[], float] = lambda: 0.0) -> Entry:
        """Take `units`, once they fit and no `pause`, in seconds, is left.

        More units than the limit count as the whole limit.
        """
        units = min(units, self.limit)
        async with self._in_order():
            while True:
                wait = pause()
                if wait <= 0:
                    entry, wait = await off_loop(self._may_wait, self._try, units)
                    if entry is not None:
                        return entry
                await self._sleep(wait)

    def correct(self, entry: Entry, units: float) -> None:
        """Make an entry count as `units`; in a thread if a server is told.

        A server that is away is not told: the entry counts as before until its minute is over.
        """
        if not self._may_wait:
            if self._correct(entry, units):
                self._released.set()
            return

        def release(done: asyncio.Future[bool]) -> None:
            if not done.cancelled() and done.exception() is None and done.result():
                self._released.set()

        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, self._correct, entry, units).add_done_callback(release)

    def _correct(self, entry: Entry, units: float) -> bool:
        """Whether units were released."""
        with self._one_at_a_time:
            return self._corrected(entry, units)

    def _corrected(self, entry: Entry, units: float) -> bool:
        if not self._taken or entry.at < self._taken[0].at or units == entry.units:
            return False
        more = units - entry.units
        self._sum += more
        entry.units = units
        if self._log is not None:
            with self._turn(self._log) as turn:
                turn.write(entry.at, more, of=entry.number)
        return more < 0

    async def _sleep(self, seconds: float) -> None:
        """Sleep, until units are released at most: by this process, or perhaps by others."""
        self._released.clear()
        waits_for("room within a limit per minute")
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, ASK_SECONDS) if self._log else seconds):
                await self._released.wait()

    def _try(self, units: float) -> tuple[Entry | None, float]:
        """An entry, or the seconds after which to try again."""
        with self._one_at_a_time:
            return self._tried(units)

    def _tried(self, units: float) -> tuple[Entry | None, float]:
        if self._log is None:
            wait = self._seconds_until(units)
            return (self._add(Entry(time.monotonic(), units)), 0.0) if wait <= 0 else (None, wait)
        with self._turn(self._log) as turn:
            wait = self._seconds_until(units)
            if wait > 0:
                return None, wait
            at = time.monotonic()
            return self._add(Entry(at, units, turn.write(at, units))), 0.0

    @contextmanager
    def _turn(self, log: MinuteLog) -> Iterator[Turn]:
        """This process's turn to write the log, what the others wrote taken in."""
        with log.turn(time.monotonic()) as turn:
            for row in turn.news:
                corrected = self._by_number.get(row.of) if row.of is not None else None
                if row.of is None:
                    self._add(Entry(row.at, row.units, row.seq))
                elif corrected is not None:
                    corrected.units += row.units
                    self._sum += row.units
            yield turn

    def _add(self, entry: Entry) -> Entry:
        self._taken.append(entry)
        self._sum += entry.units
        if entry.number:
            self._by_number[entry.number] = entry
        return entry

    def _in_order(self) -> asyncio.Lock:
        # This object outlives a stage, and each stage has an event loop of its own.
        loop = asyncio.get_running_loop()
        if self._order is None or self._loop is not loop:
            self._order, self._loop = asyncio.Lock(), loop
            self._released = asyncio.Event()
        return self._order

    def _seconds_until(self, units: float) -> float:
        now = time.monotonic()
        while self._taken and self._taken[0].at <= now - self.window:
            gone = self._taken.popleft()
            self._sum -= gone.units
            self._by_number.pop(gone.number, None)
        over = self._sum + units - self.limit
        for taken in self._taken:
            if over <= 1e-9:
                break
            over -= taken.units
            if over <= 1e-9:
                # Checked again then: an attempt may have been corrected to less or more meanwhile.
                return max(taken.at + self.window - now, 0.001)
        return 0.0
