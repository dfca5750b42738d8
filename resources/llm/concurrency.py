"""How many requests one model's server is sent at once: few at first, more while it keeps up.

The answers of each round (as many as may be in flight) decide. The concurrency grows as far as answers
fit into the timeout if the server queues what it has no room for. Answers that take most of the
timeout, a timeout and a rate limit halve it.
"""

import math

START = 4
"""Requests in flight before the server has answered a round."""
ROOM = 1 / 4
"""Part of the timeout that answers may take at a new concurrency if the server queues the others."""
LONGEST = 2 / 3
"""Part of the timeout that answers may take; if they take longer, the concurrency is halved."""


class Concurrency:
    """The number of requests that may be in flight, from 1 to `ceiling`.

    Args:
        ceiling: The entry's `concurrency`.
        timeout: Seconds after which an attempt times out; inf if none does.
        now: The time by the clock that the other methods are given.
    """

    def __init__(self, ceiling: int, timeout: float = math.inf, now: float = -math.inf):
        self.ceiling = ceiling
        self.allowed = min(ceiling, START)
        self._timeout = timeout
        self._since = now
        self._seconds: list[float] = []
        self._by_one = False

    def answered(self, sent_at: float, now: float) -> None:
        """Count an answer that came while as many requests were in flight as are allowed."""
        if sent_at < self._since:
            return  # It was sent under another concurrency.
        self._seconds.append(now - sent_at)
        if len(self._seconds) >= self.allowed:
            mean = sum(self._seconds) / len(self._seconds)
            self._set(self._after_round(max(mean, 1e-9)), now)

    def timed_out(self, sent_at: float, now: float) -> None:
        """Halve, once for all attempts that were sent under one concurrency."""
        if sent_at >= self._since:
            self.halve(now)

    def halve(self, now: float) -> None:
        """Halve, and grow by one a round from then on."""
        self._by_one = True
        self._set(max(1, self.allowed // 2), now)

    def _after_round(self, seconds: float) -> int:
        """The concurrency that follows a round whose answers took so long on average."""
        if seconds > LONGEST * self._timeout:
            return max(1, self.allowed // 2)
        grown = self._fitting(ROOM, seconds)
        if grown <= self.allowed:
            grown = min(2 * self.allowed, self._fitting(LONGEST, seconds))
        if self._by_one:
            grown = min(grown, self.allowed + 1)
        return max(self.allowed, min(self.ceiling, grown))

    def _fitting(self, share: float, seconds: float) -> int:
        """The concurrency at which a server that queues answers within a share of the timeout."""
        return int(min(self.allowed * share * self._timeout / seconds, 1e9))

    def _set(self, allowed: int, now: float) -> None:
        self._seconds.clear()
        if allowed != self.allowed:
            self.allowed, self._since = allowed, now
