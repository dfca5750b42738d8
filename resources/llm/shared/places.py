"""Places for the requests in flight to one model, over all processes of a machine.

What belongs here: as many byte locks as requests may be in flight, and how processes that wait are
noticed. A place costs two system calls; it is free again when its process dies.
"""

import hashlib
import random

from resources.llm.byte_locks import ByteLocks

_FIRST_OFFSET = 2**61
"""Beyond the offsets of requests; the bytes of a model begin at one of 2^40 multiples of a span."""
_MOST_PLACES = 2**16
_SPAN = 2 * _MOST_PLACES
"""A model's places, and as many bytes by which waiting processes are known."""


class Places:
    """The places of the model `name`, which are numbered; this process has `n` at most."""

    def __init__(self, locks: ByteLocks, name: str, n: int):
        digest = hashlib.sha256(name.encode()).digest()
        self._first = _FIRST_OFFSET + int.from_bytes(digest[:5]) * _SPAN
        self._locks = locks
        # The place that was left last is the first to be tried: it is free unless another process was
        # quicker, while those at the other end may be held by others for long.
        self._left = list(range(min(n, _MOST_PLACES)))
        self._mark: int | None = None

    def take(self) -> int | None:
        """A place; None if other processes have all that this one has not."""
        for index in range(len(self._left) - 1, -1, -1):
            if self._locks.take(self._first + self._left[index]):
                return self._left.pop(index)
        return None

    def leave(self, place: int) -> None:
        """Leave a place."""
        self._locks.release(self._first + place)
        self._left.append(place)

    def wait(self) -> None:
        """Let other processes know that this one waits for a place."""
        while self._mark is None:
            mark = self._first + _MOST_PLACES + random.randrange(_MOST_PLACES)
            if self._locks.take(mark):
                self._mark = mark

    def wait_no_more(self) -> None:
        """This process has what it needs."""
        if self._mark is not None:
            self._locks.release(self._mark)
            self._mark = None

    def others_wait(self) -> bool:
        """Whether another process waits for a place."""
        return self._locks.held_by_others(self._first + _MOST_PLACES, _MOST_PLACES)
