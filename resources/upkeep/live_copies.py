"""Copies of stores that are in use."""

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from filelock import FileLock

from resources.files.home import is_writable
from resources.files.system_errors import is_full_disk
from resources.store_damage import duckdb_log_damage, sqlite_log_damage
from resources.stores.sqlite import copy_sqlite, size_of
from resources.stores.sqlite_errors import is_damaged
from resources.upkeep.backup_contents import DamagedFile
from resources.warehouse import Warehouse

_INDEX_BYTES = 2**20
"""Free bytes that are always enough for SQLite's `-shm` file, the index of its write-ahead log."""


def copy_warehouse(source: Path, copy: Path) -> None:
    """Copy a DuckDB file with what is in its log. Raises DamagedFile, duckdb.Error, OSError."""
    import duckdb

    if not source.stat().st_size:
        raise DamagedFile("it is empty")
    try:
        if is_writable(source):
            with FileLock(f"{source}.lock"):
                require_whole(duckdb_log_damage(source, copy.parent))
            Warehouse(source).copy_to(copy)
            return
        # The lock file cannot be written: DuckDB's own lock keeps writers away.
        with duckdb.connect(str(source), read_only=True):
            require_whole(duckdb_log_damage(source, copy.parent))
            for end in (".wal", ""):
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{source}{end}", f"{copy}{end}")
        # Opening the copy applies its log.
        duckdb.connect(str(copy)).close()
    except duckdb.Error as error:
        if is_full_disk(error):
            raise
        raise DamagedFile(str(error).splitlines()[0]) from error


def copy_live_sqlite(source: Path, copy: Path) -> None:
    """Copy a SQLite file with what is in its log. Raises DamagedFile, sqlite3.Error, OSError."""
    require_whole(sqlite_log_damage(source))
    try:
        copy_sqlite(source, copy)
    except sqlite3.DatabaseError as error:
        if is_damaged(error):
            raise DamagedFile(str(error)) from error
        # In WAL mode SQLite needs files next to a database. If it cannot create them, no process
        # has the database open.
        if is_writable(source) and shutil.disk_usage(source.parent).free > _INDEX_BYTES:
            raise
        if not is_writable(source) and (
            size_of(_log(source)) or Path(f"{source}-journal").exists()
        ):
            raise
        _copy_unused_sqlite(source, copy)


def _copy_unused_sqlite(source: Path, target: Path) -> None:
    """Copy a file that nobody has open, with its log, and apply the log to the copy."""
    target.unlink(missing_ok=True)
    before = _changed_at(source)
    for path, target_path in ((_log(source), _log(target)), (source, target)):
        with suppress(FileNotFoundError):
            shutil.copyfile(path, target_path)
    if _changed_at(source) != before:
        raise OSError(f"{source} is being written")
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _log(path: Path) -> Path:
    return Path(f"{path}-wal")


def _changed_at(path: Path) -> list[tuple[int, int]]:
    """Return modification times and sizes of a SQLite file and its log."""
    stats = [each.stat() for each in (path, _log(path)) if each.exists()]
    return [(stat.st_mtime_ns, stat.st_size) for stat in stats]


def require_whole(damage: str | None) -> None:
    """Raise DamagedFile if there is damage."""
    if damage:
        raise DamagedFile(damage)
