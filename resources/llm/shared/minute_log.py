"""What all processes have taken of one limit per minute.

What belongs here: the log that they write and read, each in its turn. How much may be taken is
`resources/llm/limits.py`'s to say. Times are those of the monotonic clock, which all processes of a
machine share and which does not follow the time of day; after a restart of the machine it begins anew.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from resources.llm.shared.file import LimitsFile

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

    def __init__(self, connection: sqlite3.Connection, minute: str, news: list[Taken]):
        self.news = news
        """What others have written since this process's last turn."""
        self.last: int | None = None
        self._connection, self._minute = connection, minute

    def write(self, at: float, units: float, of: int | None = None) -> int:
        """Add a row; returns its number."""
        added = self._connection.execute(
            "INSERT INTO taken (of, minute, at, units) VALUES (?, ?, ?, ?)",
            [of, self._minute, at, units],
        )
        self.last = int(added.lastrowid or 0)
        return self.last


class MinuteLog:
    """The log of the limit `minute`, whose window is some seconds long, as this process reads it."""

    def __init__(self, file: LimitsFile, minute: str, window: float):
        self._file, self._minute, self._window = file, minute, window
        self._read = 0
        self._turns = 0

    @contextmanager
    def turn(self, now: float) -> Iterator[Turn]:
        """This process's turn."""
        with self._file.transaction() as connection:
            if self._turns % _CLEAN_EVERY == 0:
                # What is later than now was taken before the machine was restarted.
                connection.execute(
                    "DELETE FROM taken WHERE minute = ? AND (at <= ? OR at > ?)",
                    [self._minute, now - self._window, now],
                )
            self._turns += 1
            rows = connection.execute(
                "SELECT seq, of, at, units FROM taken WHERE minute = ? AND seq > ? ORDER BY seq",
                [self._minute, self._read],
            )
            turn = Turn(connection, self._minute, [Taken(*row) for row in rows])
            yield turn
        read = turn.last or (turn.news[-1].seq if turn.news else 0)
        self._read = max(self._read, read)
