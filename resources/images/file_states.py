"""The states of files that were read and found whole, so that they are not read again to be checked.

What belongs here: what a file's state is, and remembering a bounded number of them. What does not: what
a whole file is (`store.py`), and keeping states longer than a process runs (`index.py`).
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

REMEMBERED = 50_000
"""States, each of some 300 bytes."""


class FileState(NamedTuple):
    """What changes when a file is written: size in bytes, time in nanoseconds, number on its device."""

    n_bytes: int
    mtime_ns: int
    inode: int


def state_of(path: Path) -> FileState:
    """The state of a file now. Raises OSError."""
    found = path.stat()
    return FileState(found.st_size, found.st_mtime_ns, found.st_ino)


class FileStates:
    """The states of whole files, by the id of their content; for any number of threads."""

    def __init__(self) -> None:
        self._states: OrderedDict[str, FileState] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, states: Mapping[str, FileState]) -> None:
        """Add states; the oldest are forgotten."""
        with self._lock:
            self._states.update(states)
            while len(self._states) > REMEMBERED:
                self._states.popitem(last=False)

    def of(self, ids: Iterable[str]) -> dict[str, FileState]:
        """The states of these, as far as they are remembered."""
        with self._lock:
            return {one: self._states[one] for one in ids if one in self._states}
