"""The time that work still takes, from how fast it went lately.

What belongs here: the estimate, and when there is none because too little is known. What is counted,
and whom it is shown, belongs to `usage.py` and `assets/common/progress.py`.
"""

from collections import deque
from typing import NamedTuple

SHORTEST = 4.5
"""Seconds that an estimate looks back at least; reports come about every five seconds."""
FEWEST = 10
"""Requests that have to be answered in that time at least."""
_SAMPLE = 20
"""Requests from which the share of those that are sent is read off."""
_MARKS = 720
"""Marks that are kept: an hour of reports."""


class Mark(NamedTuple):
    """What was done at one moment: items, their requests, all requests, those of them that were sent.

    Requests that are not sent, as the ledger answers them, take no time.
    """

    at: float
    items: int
    of_items: int
    requests: int
    sent: int

    @classmethod
    def of_units(cls, at: float, units: int) -> "Mark":
        """Work of which each unit takes as long as another."""
        return cls(at, units, units, units, units)


class Pace:
    """How fast items are done.

    Requests in flight come back together, and a stage may start slowly. So the pace is that of the
    latest time in which at least as many requests were answered as are in flight, not the mean.
    """

    def __init__(self, at: float, items: int = 0):
        self._at_once = 0
        self._marks = deque([Mark.of_units(at, items)], maxlen=_MARKS)

    def mark(self, mark: Mark) -> None:
        """What is done by now."""
        self._marks.append(mark)

    def per_second(self) -> float:
        """Requests a second since the mark before the last one."""
        if len(self._marks) < 2:
            return 0.0
        before, now = self._marks[-2], self._marks[-1]
        return (now.requests - before.requests) / max(now.at - before.at, 1e-9)

    def seconds_left(self, n_left: int, in_flight: int = 0) -> float | None:
        """Seconds that `n_left` items will take; None while too little is done to tell."""
        now = self._marks[-1]
        self._at_once = max(self._at_once, in_flight)
        if n_left == 0:
            return 0.0
        if now.items == self._marks[0].items:
            return None
        # Those under way have made some of their requests already.
        requests = now.of_items / now.items * n_left - (now.requests - now.of_items)
        for since in reversed(self._marks):
            seconds, sent = now.at - since.at, now.sent - since.sent
            if seconds >= SHORTEST and sent >= max(FEWEST, in_flight):
                to_send = max(requests, n_left) * self._share_to_send(since)
                # The last requests take as long as any, however few they are: half of that on average.
                return seconds / sent * (to_send + self._at_once / 2)
        return None

    def _share_to_send(self, since: Mark) -> float:
        """The likely share of sent requests in what is left.

        It is the largest that was seen: if the ledger had answers to the first requests, as in a stage
        that goes on for a killed one, it need not have more.
        """
        now, first = self._marks[-1], self._marks[0]
        lately = next(
            (each for each in reversed(self._marks) if now.requests - each.requests >= _SAMPLE),
            first,
        )
        return max(_share_sent(each, now) for each in (first, since, lately))


def _share_sent(since: Mark, now: Mark) -> float:
    requests = now.requests - since.requests
    return (now.sent - since.sent) / requests if requests else 0.0
