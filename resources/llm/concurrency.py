"""Adaptive concurrency: the number of requests in flight to one model's server.

A server with free capacity answers equally fast with more requests in flight. A full server queues
them: answers take proportionally longer, and finally time out, although the server has worked on
them. A round is as many answers as requests may be in flight. After each round, short response
times raise the concurrency at once, and longer ones step by step as long as they do not grow. A
timeout or a rate limit halves it.
"""

import math
from typing import NamedTuple

START = 4
"""Requests in flight before the server has answered a round."""
ROOM = 1 / 4
"""The concurrency rises at once as far as answers would take at most this share of the timeout, even if
the server queues all additional requests."""
LONGEST = 2 / 3
"""The concurrency is halved if answers take more than this share of the timeout."""
QUEUED = 1 / 2
"""Response times that grow by at least this share of the growth in concurrency count as queuing."""
ROUNDS_OF_REST = 8
"""Rounds until the concurrency of a server that was full is raised again."""


class _Round(NamedTuple):
    """The concurrency of a round and the mean seconds of its answers."""

    allowed: int
    seconds: float


class Concurrency:
    """The number of requests that may be in flight, from 1 to `ceiling`.

    Args:
        ceiling: The entry's `concurrency`.
        timeout: Seconds after which an attempt times out; inf if none does.
    """

    def __init__(self, ceiling: int, timeout: float):
        self.ceiling = ceiling
        self.allowed = min(ceiling, START)
        self._timeout = timeout
        self._since = -math.inf
        self._seconds: list[float] = []
        self._before: _Round | None = None
        self._by_one = False
        self._rest = 0

    def answered(self, sent_at: float, current_time: float) -> None:
        """Count an answer that came while the allowed number of requests was in flight.

        Args:
            sent_at: The time when the request was sent.
            current_time: The current time of the same clock.
        """
        if sent_at < self._since:
            return  # The request was sent at another concurrency.
        self._seconds.append(current_time - sent_at)
        if len(self._seconds) >= self.allowed:
            mean = sum(self._seconds) / len(self._seconds)
            self._set(self._after(_Round(self.allowed, max(mean, 1e-9))), current_time)

    def timed_out(self, sent_at: float, current_time: float) -> None:
        """Halve the concurrency, once for all attempts that were sent at this concurrency.

        Args:
            sent_at: The time when the request was sent.
            current_time: The current time of the same clock.
        """
        if sent_at >= self._since:
            self.halve(current_time)

    def halve(self, current_time: float) -> None:
        """Halve the concurrency. From then on it grows by one per round."""
        self._by_one, self._before, self._rest = True, None, ROUNDS_OF_REST
        self._set(max(1, self.allowed // 2), current_time)

    def _after(self, done: _Round) -> int:
        """Compute the concurrency after a round."""
        if done.seconds > LONGEST * self._timeout:
            self._before, self._rest = None, ROUNDS_OF_REST
            return max(1, done.allowed // 2)
        most = min(self.ceiling, done.allowed + 1 if self._by_one else self.ceiling)
        if (fitting := _within(ROOM * self._timeout, done)) > done.allowed:
            self._before = None
            return min(most, fitting)
        if self._before is not None and _is_queuing(self._before, done):
            slower, self._before, self._rest = self._before, None, ROUNDS_OF_REST
            return slower.allowed
        if self._rest:
            self._rest -= 1
            return done.allowed
        grown = min(most, 2 * done.allowed, _within(LONGEST * self._timeout, done))
        self._before = done
        return max(done.allowed, grown)

    def _set(self, allowed: int, current_time: float) -> None:
        self._seconds.clear()
        if allowed != self.allowed:
            self.allowed, self._since = allowed, current_time


def _within(seconds: float, done: _Round) -> int:
    """Compute the concurrency at which answers take at most `seconds`, even if the server queues."""
    return int(min(done.allowed * seconds / done.seconds, 1e9))


def _is_queuing(before: _Round, done: _Round) -> bool:
    """Tell whether answers got slower with more requests in flight, as those of a full server do."""
    growth = done.allowed / before.allowed - 1
    return growth > 0 and done.seconds > before.seconds * (1 + QUEUED * growth)
