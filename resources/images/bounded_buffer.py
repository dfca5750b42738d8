"""A producer-consumer buffer between fetching and using images, bounded in items and bytes."""

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

Item = TypeVar("Item")


@dataclass(slots=True, eq=False)
class Slot:
    """Room for one item of up to `n_bytes`."""

    n_bytes: int


class BufferFull(Exception):
    """An item is larger than its slot, and the buffer has no more room for now."""

    def __init__(self, n_bytes: int) -> None:
        super().__init__(n_bytes)
        self.n_bytes = n_bytes


class BoundedBuffer(Generic[Item]):
    """A buffer of at most `max_items` items and `max_bytes` bytes, including
    items in production and in use.

    A producer reserves a slot before it begins, and resizes the slot once it knows its item's size. An
    item larger than `max_bytes` is accepted if the buffer is empty. Every method runs in the event
    loop; a thread calls `take` through a portal.
    """

    def __init__(self, max_items: int, max_bytes: int) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._slots: set[Slot] = set()
        self._n_bytes = 0
        self._waiting: deque[tuple[Slot, Item]] = deque()
        self._in_use: Slot | None = None
        self._closed = False
        self._changed = anyio.Event()
        self._order = anyio.Lock()

    async def reserve(self, n_bytes: int) -> Slot:
        """Wait for room, first come, first served, and return a slot for an item of up to `n_bytes`."""
        async with self._order:
            while len(self._slots) >= self._max_items or (
                self._slots and self._n_bytes + n_bytes > self._max_bytes
            ):
                await self._changed.wait()
            slot = Slot(n_bytes)
            self._slots.add(slot)
            self._n_bytes += n_bytes
            return slot

    def resize(self, slot: Slot, n_bytes: int) -> None:
        """Set the size of a slot.

        Args:
            slot: The slot.
            n_bytes: The size of its item.

        Raises:
            BufferFull: There is not enough room now.
        """
        more = n_bytes - slot.n_bytes
        if more > 0 and len(self._slots) > 1 and self._n_bytes + more > self._max_bytes:
            raise BufferFull(n_bytes)
        self._n_bytes += more
        slot.n_bytes = n_bytes
        self._notify()

    def release(self, slot: Slot) -> None:
        """Release a slot that has no item or whose item was used."""
        self._slots.remove(slot)
        self._n_bytes -= slot.n_bytes
        self._notify()

    def put(self, slot: Slot, item: Item) -> None:
        """Put a finished item into its slot.

        Args:
            slot: The slot.
            item: The item.
        """
        self._waiting.append((slot, item))
        self._notify()

    def close(self) -> None:
        """Declare that no more items will be put."""
        self._closed = True
        self._notify()

    async def take(self) -> Item | None:
        """Return the next finished item; None after the last. Releases the slot of the previous one."""
        if self._in_use:
            self.release(self._in_use)
            self._in_use = None
        while not self._waiting:
            if self._closed:
                return None
            await self._changed.wait()
        self._in_use, item = self._waiting.popleft()
        return item

    def _notify(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
