"""A connection to a store's file whose errors name the file.

What belongs here: which of SQLite's errors are about the file, and the sentence for each. Errors of a
statement or of a row (a constraint, a wrong name) stay what they are.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from resources.migrations import StoreError
from resources.stores.sqlite_errors import REFUSED, is_damaged, result_code


class NamedConnection(sqlite3.Connection):
    """A connection that raises StoreError for what SQLite says of the file, its cause that error."""

    path: Path
    advice: str
    """What to do about a file that is damaged."""

    def cursor(self, factory: Any = None) -> Any:
        """A cursor that raises StoreError, too."""
        return super().cursor(factory or NamedCursor)

    def execute(self, *arguments: Any) -> "NamedCursor":
        """As of every connection."""
        # That of sqlite3 makes a cursor without `cursor`.
        cursor: NamedCursor = self.cursor()
        return cursor.execute(*arguments)

    def executemany(self, sql: str, rows: Iterable[Any], /) -> "NamedCursor":
        """As of every connection."""
        cursor: NamedCursor = self.cursor()
        return cursor.executemany(sql, rows)

    def execute_each(self, sql: str, rows: Iterable[Any]) -> list[int]:
        """Run a change for each of the rows; how many rows of the table each of them has changed."""
        return [self.execute(sql, row).rowcount for row in rows]

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Raise StoreError for errors of the file in this block."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self.named(error) from error

    def named(self, error: sqlite3.DatabaseError) -> Exception:
        """The StoreError for an error of the file; the error itself if it is none."""
        code = result_code(error)
        if is_damaged(error):
            message = str(error).partition(" with text ")[0]
            return StoreError(f"{self.path} is damaged ({message}): {self.advice}.")
        if code in REFUSED:
            advice = "make room on its disk" if code == sqlite3.SQLITE_FULL else "put that right"
            return StoreError(f"{self.path} cannot be used ({error}): {advice}, and start again.")
        return error


class NamedCursor(sqlite3.Cursor):
    """A cursor of a NamedConnection."""

    connection: NamedConnection

    def execute(self, *arguments: Any) -> "NamedCursor":
        """As of every cursor."""
        try:
            super().execute(*arguments)
        except sqlite3.DatabaseError as error:
            raise self.connection.named(error) from error
        return self

    def executemany(self, sql: str, rows: Iterable[Any], /) -> "NamedCursor":
        """As of every cursor."""
        try:
            super().executemany(sql, rows)
        except sqlite3.DatabaseError as error:
            raise self.connection.named(error) from error
        return self

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except sqlite3.DatabaseError as error:
            raise self.connection.named(error) from error

    def fetchone(self) -> Any:
        """As of every cursor."""
        try:
            return super().fetchone()
        except sqlite3.DatabaseError as error:
            raise self.connection.named(error) from error

    def fetchmany(self, size: int | None = 1) -> list[Any]:
        """As of every cursor."""
        try:
            return super().fetchmany(size)
        except sqlite3.DatabaseError as error:
            raise self.connection.named(error) from error

    def fetchall(self) -> list[Any]:
        """As of every cursor."""
        try:
            return super().fetchall()
        except sqlite3.DatabaseError as error:
            raise self.connection.named(error) from error
