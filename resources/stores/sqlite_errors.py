"""Classification of SQLite errors: damaged files, and files that cannot be read or written now."""

import sqlite3
from pathlib import Path

_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
_SAY_DAMAGED = ("no such table", "no such column", "Could not decode to UTF-8")
"""Prefixes of messages that mean a damaged file, although the result code does not."""
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
    """Return SQLite's primary result code, the lowest byte of the extended code."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether the error means that the file's content is damaged.

    A file that SQLite cannot open may be intact: the process may have too many open files.
    """
    # SQLite treats a file of 0 bytes as an empty database: "no such table".
    return result_code(error) in _DAMAGED or str(error).startswith(_SAY_DAMAGED)


def unwritable(path: Path, error: Exception) -> str:
    """Describe the error of a file without write permission, whose content is intact.

    Args:
        path: The file.
        error: The error of the operating system or of SQLite.

    Returns:
        One sentence that says what to do.
    """
    return (
        f"{path} may not be written ({error}): make its folder one that you may write to, or copy the "
        "home to one and set LOOM_WORKSPACE to it."
    )
