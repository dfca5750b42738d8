"""Search for unreadable values in a SQLite file; its pages have no checksums, so all are decoded."""

import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Readers = Mapping[str, Callable[[Any], object]]
"""`table.column` -> decoder of its values, which raises ValueError or zlib.error."""
_CLASSES: dict[str, tuple[type, ...]] = {
    "TEXT": (str,),
    "INTEGER": (int,),
    "REAL": (int, float),
    "BLOB": (bytes,),
}
"""Declared type of a column -> Python types of its values; a REAL may be stored as an integer."""
_OTHER_CLASSES = (str, int, float)
"""Python types of the values of other columns, such as DATETIME. Bytes mean an undecodable text."""


def text_or_bytes(stored: bytes) -> object:
    """Decode a text, or return its bytes if they are not UTF-8; the `text_factory` of a connection."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


def tables_of(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the tables of a file, without SQLite's internal tables."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
    return [name for (name,) in connection.execute(query)]


def unreadable_values(
    connection: sqlite3.Connection, table: str, readers: Readers
) -> Iterator[str | None]:
    """Decode every value of a table as the store does.

    Args:
        connection: A connection whose `text_factory` is `text_or_bytes`.
        table: The table.
        readers: Decoders of its columns.

    Yields:
        For each row None, or a sentence (without a full stop) about its first damaged value.

    Raises:
        sqlite3.DatabaseError: The next row cannot be read at all.
    """
    columns = [
        (
            name,
            (*_CLASSES.get(kind, _OTHER_CLASSES), *(() if needed else (type(None),))),
            readers.get(f"{table}.{name}"),
        )
        for _, name, kind, needed, *_ in connection.execute(f'PRAGMA table_info("{table}")')
    ]
    names = ", ".join(f'"{name}"' for name, *_ in columns)
    rows = connection.execute(f'SELECT {names} FROM "{table}"')
    for number, values in enumerate(rows, start=1):
        damaged = next(
            (
                name
                for (name, classes, reader), value in zip(columns, values, strict=True)
                if not _is_readable(value, classes, reader)
            ),
            None,
        )
        yield damaged and f"row {number} of {table} has a {damaged} that cannot be read"


def _is_readable(
    value: object, classes: tuple[type, ...], reader: Callable[[Any], object] | None
) -> bool:
    if not isinstance(value, classes):
        return False
    if reader and value is not None:
        try:
            reader(value)
        except (ValueError, zlib.error):
            return False
    return True
