"""A limit on units, requests or tokens, in any sliding minute.

What belongs here: the minute as one process sees it. What all processes take of it is in
`shared/shared_limits.py`.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from resources.llm.shared.shared_limits import MinuteLog, Turn
from resources.llm.store_calls import StoreCalls
from resources.llm.waiting_line import WaitingLine
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
        self._calls = StoreCalls(may_wait=False) if log is None else log.calls
        self._taken: deque[Entry] = deque()
        self._by_number: dict[int, Entry] = {}
        self._sum = 0.0
        self._line = WaitingLine()

    async def take(self, units: float, pause: Callable[[], float] = lambda: 0.0) -> Entry:
        """Take `units`, once they fit and no `pause`, in seconds, is left.

        More units than the limit count as the whole limit.
        """
        units = min(units, self.limit)
        async with self._line.turn():
            while True:
                wait = pause()
                if wait <= 0:
                    entry, wait = await self._calls.call(self._try, units)
                    if entry is not None:
                        return entry
                waits_for("room within a limit per minute")
                # Others may release units, too, and do not tell.
                await self._line.sleep(min(wait, ASK_SECONDS) if self._log else wait)

    def correct(self, entry: Entry, units: float) -> None:
        """Make an entry count as `units`; in a thread if a server is told.

        A server that is away is not told: the entry counts as before until its minute is over.
        """

        def wake(is_released: bool) -> None:
            if is_released:
                self._line.wake()

        self._calls.later(lambda: self._correct(entry, units), wake)

    def _correct(self, entry: Entry, units: float) -> bool:
        """Whether units were released."""
        if not self._taken or entry.at < self._taken[0].at or units == entry.units:
            return False
        more = units - entry.units
        self._sum += more
        entry.units = units
        if self._log is not None:
            with self._turn(self._log) as turn:
                turn.write(entry.at, more, of=entry.number)
        return more < 0

    def _try(self, units: float) -> tuple[Entry | None, float]:
        """An entry, or the seconds after which to try again."""
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
