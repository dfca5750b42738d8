"""Handing what an event loop makes to a thread that takes its time, within bounds.

What belongs here: the places for things that are being made, that wait and that are in use. What
does not: what the things are.
"""

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

Thing = TypeVar("Thing")


@dataclass(slots=True, eq=False)
class Place:
    """Room for one thing of up to `n_bytes`."""

    n_bytes: int


class NoRoom(Exception):
    """A thing is larger than its place, and there is no more room for now."""

    def __init__(self, n_bytes: int) -> None:
        super().__init__(n_bytes)
        self.n_bytes = n_bytes


class Handover(Generic[Thing]):
    """At most `max_things`, and `max_bytes` of them together, being made, waiting and in use.

    A maker reserves a place before it begins, and says how large its thing is once it knows. A thing
    larger than all of `max_bytes` has its turn alone. Every method belongs to the event loop; a
    thread takes through a portal.
    """

    def __init__(self, max_things: int, max_bytes: int) -> None:
        self._max_things = max_things
        self._max_bytes = max_bytes
        self._places: set[Place] = set()
        self._n_bytes = 0
        self._waiting: deque[tuple[Place, Thing]] = deque()
        self._in_use: Place | None = None
        self._closed = False
        self._changed = anyio.Event()
        self._turn = anyio.Lock()

    async def reserve(self, n_bytes: int) -> Place:
        """A place for a thing of up to `n_bytes`, once there is one: first come, first served."""
        async with self._turn:
            while len(self._places) >= self._max_things or (
                self._places and self._n_bytes + n_bytes > self._max_bytes
            ):
                await self._changed.wait()
            place = Place(n_bytes)
            self._places.add(place)
            self._n_bytes += n_bytes
            return place

    def resize(self, place: Place, n_bytes: int) -> None:
        """The thing is known to have that many bytes. Raises NoRoom if they are too many for now."""
        more = n_bytes - place.n_bytes
        if more > 0 and len(self._places) > 1 and self._n_bytes + more > self._max_bytes:
            raise NoRoom(n_bytes)
        self._n_bytes += more
        place.n_bytes = n_bytes
        self._tell()

    def give_back(self, place: Place) -> None:
        """Nothing came of the place, or what was in it is used up."""
        self._places.remove(place)
        self._n_bytes -= place.n_bytes
        self._tell()

    def put(self, place: Place, thing: Thing) -> None:
        """A finished thing into the place that was reserved for it."""
        self._waiting.append((place, thing))
        self._tell()

    def close(self) -> None:
        """Nothing more will come."""
        self._closed = True
        self._tell()

    async def take(self) -> Thing | None:
        """The next finished thing, or None after the last; the one taken before is used up."""
        if self._in_use:
            self.give_back(self._in_use)
            self._in_use = None
        while not self._waiting:
            if self._closed:
                return None
            await self._changed.wait()
        self._in_use, thing = self._waiting.popleft()
        return thing

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
