"""Corruption checks of SQLite and DuckDB files: read all of a file, and check its write-ahead log.

The engines only notice corruption in the pages that they read. Both open a file with a truncated log
without an error, and omit the lost transactions. Each function describes the damage in words, or
returns None.
"""

import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

from resources.stores.sqlite import size_of
from resources.stores.sqlite_rows import Readers, tables_of, text_or_bytes, unreadable_values
from resources.warehouse.declarations import sql_text
from resources.warehouse.duckdb_file import quoted

_WAL_HEADER, _FRAME_HEADER, _INDEX_HEADER = 32, 24, 100
"""Sizes of parts of the WAL format in bytes (sqlite.org/walformat.html)."""


def sqlite_damage(path: Path, readers: Readers) -> str | None:
    """Read every page and row of a SQLite file that nobody writes and that has no log.

    Args:
        path: The file, of any version.
        readers: Decoders of its columns.

    Returns:
        The damage in words; None for an intact file.
    """
    if not size_of(path):
        return "it is empty"
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            # A check that a stranger declared could compute without end.
            connection.execute("PRAGMA ignore_check_constraints = ON")
            (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if result != "ok":
                return " ".join(result.removeprefix("*** in database main ***").split())
            connection.text_factory = text_or_bytes
            return next(
                (
                    damage
                    for table in tables_of(connection)
                    for damage in unreadable_values(connection, table, readers)
                    if damage
                ),
                None,
            )
    except sqlite3.DatabaseError as error:
        return str(error)


def sqlite_log_damage(path: Path) -> str | None:
    """Check whether the log (`-wal`) of a SQLite file was truncated; others may write meanwhile.

    Call this before SQLite opens the file and resets the index of the log (`-shm`). The index has the
    number of committed frames, so the log must be at least this long. Without an index, nobody has the
    file open, and a log that ends within a frame was truncated.
    """
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    while True:
        header_bytes = _head(index, _INDEX_HEADER)
        header, size = _head(log, _WAL_HEADER), size_of(log)
        if _head(index, _INDEX_HEADER) == header_bytes:
            break
    if len(header_bytes) < _INDEX_HEADER:
        page_size = int.from_bytes(header[8:12]) if len(header) == _WAL_HEADER else 1
        frames = size - _WAL_HEADER if size else 0
        return "its log (-wal) is cut" if frames % (_FRAME_HEADER + page_size) else None
    ready, page_size, n_frames = struct.unpack_from("=B x H I", header_bytes, 12)
    (n_taken_in,) = struct.unpack_from("=I", header_bytes, 96)
    page_size = 65536 if page_size == 1 else page_size
    wanted = _WAL_HEADER + n_frames * (_FRAME_HEADER + page_size)
    same = not header or header_bytes[32:40] == header[16:24]
    if ready and n_taken_in < n_frames and same and size < wanted:
        return f"the last {wanted - size} bytes of its log (-wal) are missing"
    return None


def duckdb_damage(path: Path) -> str | None:
    """Read every stored value of every table of a DuckDB file that nobody writes.

    Generated columns are not read: they are not stored, and may need any amount of memory.
    """
    import duckdb

    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            for table, columns in connection.execute(sql_text("stored_columns")).fetchall():
                connection.execute(f"SELECT bit_xor(hash({columns})) FROM {table}").fetchall()
    except duckdb.Error as error:
        return str(error).splitlines()[0]
    return None


def duckdb_log_damage(path: Path, scratch: Path) -> str | None:
    """Check whether the log (`.wal`) of a DuckDB file, which nobody writes, was truncated.

    At its next write, DuckDB removes the unreadable rest of a log. A copy in the folder `scratch` gets
    two equal changes: if the first one adds fewer bytes to the log than the second, DuckDB removed
    some.
    """
    import duckdb

    if not (size := size_of(Path(f"{path}.wal"))):
        return None
    copy = scratch / path.name
    log = Path(f"{copy}.wal")
    shutil.copyfile(path, copy)
    shutil.copyfile(f"{path}.wal", log)
    try:
        with duckdb.connect() as instance:
            instance.execute("SET checkpoint_threshold = '1TB'")
            instance.execute(f"ATTACH {quoted(str(copy))} AS copy")
            sizes = []
            for name in ("one", "two"):
                instance.execute(f'CREATE SCHEMA copy."added {name}"')
                sizes.append(size_of(log))
    except duckdb.Error as error:
        return str(error).splitlines()[0]
    finally:
        copy.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
    first, second = sizes
    return "its log (.wal) is cut" if first - (second - first) != size else None


def _head(path: Path, n_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(n_bytes)
    except FileNotFoundError:
        return b""
