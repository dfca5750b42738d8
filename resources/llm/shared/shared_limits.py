"""What a process shares with others while it asks models; nothing is opened before it is needed.

What belongs here: one open file of locks, one of tables, places of requests in flight, what was taken
of limits per minute, and what is known of a model under its endpoint and name. Without them, as for a
run's own offline server, limits hold in one process.
"""

import hashlib
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, or_, select

from resources.llm.ledger import Ledger
from resources.llm.model_spec import ModelSpec
from resources.llm.shared.accounts import Account
from resources.llm.shared.file import LIMITS, TAKEN
from resources.llm.store_calls import StoreCalls
from resources.stores import Store, open_store
from resources.stores.clock import server_seconds
from resources.stores.locks import Locks, open_locks
from resources.stores.sqlite import SqliteStore

_FIRST_OFFSET = 2**61
"""Beyond the offsets of requests; the bytes of a model begin at one of 2^40 multiples of a span."""
_MOST_PLACES = 2**16
_SPAN = 2 * _MOST_PLACES
"""A model's places, and as many bytes by which waiting processes are known."""


class Places:
    """The places of the model `name`, which are numbered; this process has `n` at most.

    An event loop calls it by its `calls`.
    """

    def __init__(self, locks: Locks, name: str, n: int):
        digest = hashlib.sha256(name.encode()).digest()
        self._first = _FIRST_OFFSET + int.from_bytes(digest[:5]) * _SPAN
        self._locks, self.calls = locks, StoreCalls(locks.may_wait)
        # The place that was left last is the first to be tried: it is free unless another process was
        # quicker, while those at the other end may be held by others for long.
        self._left = list(range(min(n, _MOST_PLACES)))
        self._mark: int | None = None

    def enter(self, is_due: bool) -> int | None:
        """A place; else None, and other processes know that this one waits.

        Args:
            is_due: Whether to take a place also if another process waits for one.
        """
        place = self.take() if is_due or not self.others_wait() else None
        if place is None:
            self.wait()
        return place

    def give_back(self, place: int | None) -> None:
        """Leave the place that was taken, if one was."""
        if place is not None:
            self.leave(place)

    def take(self) -> int | None:
        """A place; None if other processes have all that this one has not."""
        for index in range(len(self._left) - 1, -1, -1):
            if self._locks.take(self._first + self._left[index]):
                return self._left.pop(index)
        return None

    def leave(self, place: int) -> None:
        """Leave a place; it is free again also where its lock cannot be released."""
        self._left.append(place)
        self._locks.release(self._first + place)

    def wait(self) -> None:
        """Let other processes know that this one waits for a place."""
        while self._mark is None:
            mark = self._first + _MOST_PLACES + random.randrange(_MOST_PLACES)
            if self._locks.take(mark):
                self._mark = mark

    def wait_no_more(self) -> None:
        """This process has what it needs."""
        if self._mark is not None:
            mark, self._mark = self._mark, None
            self._locks.release(mark)

    def others_wait(self) -> bool:
        """Whether another process waits for a place."""
        return self._locks.held_by_others(self._first + _MOST_PLACES, _MOST_PLACES)


_TAKE = insert(TAKEN).returning(TAKEN.c.seq)
_NEWS = (
    select(TAKEN.c.seq, TAKEN.c.of, TAKEN.c.at, TAKEN.c.units)
    .where(TAKEN.c.minute == bindparam("of_minute"), TAKEN.c.seq > bindparam("after"))
    .order_by(TAKEN.c.seq)
)
_CLEAN_EVERY = 200
"""Turns after which rows are removed that no window has any more."""


class Taken(NamedTuple):
    """Units taken at a time; or, with `of`, the correction of an earlier row by so many units."""

    seq: int
    of: int | None
    at: float
    units: float


class Turn:
    """A transaction in which no other process takes anything."""

    def __init__(self, connection: Connection, minute: str, news: list[Taken], ahead: float):
        self.news = news
        """What others have written since this process's last turn."""
        self.last: int | None = None
        self._connection, self._minute, self._ahead = connection, minute, ahead

    def write(self, at: float, units: float, of: int | None = None) -> int:
        """Add a row; returns its number."""
        row = {"of": of, "minute": self._minute, "at": at + self._ahead, "units": units}
        self.last = int(self._connection.execute(_TAKE, row).scalar_one())
        return self.last


class MinuteLog:
    """The log of the limit `minute`, whose window is some seconds long, as this process reads it.

    Times are those of the machine's monotonic clock. Where machines share the log, it has those of the
    server's clock, and each turn translates them.
    """

    def __init__(self, store: Store, minute: str, window: float):
        self._store, self._minute, self._window = store, minute, window
        self._read = 0
        self._turns = 0
        self.calls = StoreCalls(not isinstance(store, SqliteStore))
        """How an event loop takes a turn."""

    @contextmanager
    def turn(self, now: float) -> Iterator[Turn]:
        """This process's turn."""
        with self._store.transaction() as connection:
            shared = server_seconds(connection)
            ahead = 0.0 if shared is None else shared - time.monotonic()
            if self._turns % _CLEAN_EVERY == 0:
                # What is later than now was taken before the machine was restarted.
                gone = or_(TAKEN.c.at <= now + ahead - self._window, TAKEN.c.at > now + ahead)
                connection.execute(delete(TAKEN).where(TAKEN.c.minute == self._minute, gone))
            self._turns += 1
            rows = connection.execute(_NEWS, {"of_minute": self._minute, "after": self._read})
            taken = [Taken(seq, of, at - ahead, units) for seq, of, at, units in rows]
            # Others have committed these rows: they are read once, also where this turn fails.
            self._read = taken[-1].seq if taken else self._read
            turn = Turn(connection, self._minute, taken, ahead)
            yield turn
        self._read = max(self._read, turn.last or 0)


class SharedLimits:
    """Limits and budgets that processes with the same file at `path` share."""

    def __init__(self, path: Path):
        self.path = path
        self._places: dict[str, Places] = {}
        self._calls: list[StoreCalls] = []

    def places(self, spec: ModelSpec) -> Places | None:
        """The places of a model's requests in flight; None if its server is this process's own."""
        name = _name(spec)
        if name is not None and name not in self._places:
            self._places[name] = Places(self._locks, name, spec.concurrency)
            self._calls.append(self._places[name].calls)
        return None if name is None else self._places[name]

    def minute(self, spec: ModelSpec, units: str, window: float) -> MinuteLog | None:
        """What was taken of a model's limit of `units`; None if its server is this process's own."""
        name = _name(spec)
        if name is None:
            return None
        log = MinuteLog(self._store, f"{name} {units}", window)
        self._calls.append(log.calls)
        return log

    def account(
        self, ledger: Ledger, run: str, ancestors: Sequence[str], *, together: bool
    ) -> Account:
        """The account that a run spends from, as for Account."""
        return Account(self._store, self._locks, ledger, run, ancestors, together=together)

    def close(self) -> None:
        """Release what this process holds."""
        for calls in self._calls:
            calls.close()
        if "_locks" in vars(self):
            self._locks.close()
            del self._locks
        if "_store" in vars(self):
            self._store.close()
            del self._store
        self._places.clear()
        self._calls.clear()

    @cached_property
    def _locks(self) -> Locks:
        return open_locks(Path(f"{self.path}.flights"))

    @cached_property
    def _store(self) -> Store:
        return open_store(LIMITS, self.path)


def _name(spec: ModelSpec) -> str | None:
    """What the model is known by in all processes; None where each starts its own server."""
    server = spec.server()
    if server is None:
        return None
    return f"{server.public} {spec.model}"
