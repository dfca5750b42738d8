"""Errors of SQLite: which of them are about the file, and which of these say that it is damaged."""

import sqlite3
from pathlib import Path

_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
_SAY_DAMAGED = ("no such table", "no such column", "Could not decode to UTF-8")
"""Beginnings of messages that say that a file is damaged, without such a code."""
REFUSED = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
)
"""Result codes of a file that cannot be read or written now."""


def result_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code: the lowest byte."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether SQLite says that the file is not what the store has written.

    A file that SQLite cannot open may be whole: the process may have too many files open.
    """
    # A file that was cut off to nothing is an empty database to SQLite.
    return result_code(error) in _DAMAGED or str(error).startswith(_SAY_DAMAGED)


def unwritable(path: Path, error: Exception) -> str:
    """Say that a file may not be written. The file itself is sound.

    Args:
        path: The file.
        error: The error of the operating system or of SQLite.

    Returns:
        One sentence with what to do.
    """
    return (
        f"{path} may not be written ({error}): make its folder one that you may write to, or copy the "
        "home to one and set LOOM_WORKSPACE to it."
    )
