"""A store in a SQLite file, which many threads and processes read and write at the same time."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from filelock import FileLock
from sqlalchemy import Connection, QueuePool, create_engine
from sqlalchemy.exc import DBAPIError, OperationalError

from methods.naming import listed
from resources.files.home import is_writable
from resources.files.system_errors import exhaustion_message
from resources.migrations import (
    StoreError,
    missing_steps,
    other_version_message,
    require_upgradable_stores,
)
from resources.stores import versions
from resources.stores.engine import StoreKind, connected, in_memory, track_engine
from resources.stores.foreign_code import declare_code
from resources.stores.sqlite_errors import REFUSED, is_damaged, result_code, unwritable

BUSY_TIMEOUT = 60.0
"""Seconds to wait for other writers; transactions take milliseconds, so a longer wait is a hang."""
_DECLARATIONS = """
SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
ORDER BY type <> 'table', rowid
"""
_NAMES = """
SELECT type || ' ' || name FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'
UNION ALL
SELECT 'column ' || m.name || '.' || i.name FROM sqlite_master AS m, pragma_table_info(m.name) AS i
WHERE m.type = 'table'
"""
T = TypeVar("T")


class SqliteStore:
    """The store of a kind in a SQLite file. Opening it creates or migrates the file.

    Errors of SQLite, and a file that was deleted or replaced, raise StoreError. A file without write
    permission can be read; each write is refused.

    Raises:
        StoreError: The file has an unknown version, or cannot be used.
    """

    def __init__(self, kind: StoreKind, path: Path | str):
        self.kind, self.path = kind, Path(path)
        self.shown = str(self.path)
        self._identity: tuple[int, int] | None = None
        """Device and inode of the file that was opened."""
        engine = create_engine(
            "sqlite://",
            creator=self.connect,
            poolclass=QueuePool,
            max_overflow=-1,
            hide_parameters=True,
        )
        self._engine = track_engine(engine, self.explain)
        if self.path.exists() and not is_writable(self.path):
            look(kind, self.path, lambda _: None)
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Unlike a transaction, turning WAL on does not wait for other connections: a file lock
        # serializes processes that open the store at the same time.
        lock = FileLock(f"{self.path}.lock", timeout=BUSY_TIMEOUT)
        with _explained(kind, self.path), lock:
            self._require_there()
            self._bring_up_to_date()
            self._identity = _identity(self.path)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN")
            yield connection

    streamed = snapshot

    @contextmanager
    def transaction(self, *, in_turn: bool = True) -> Iterator[Connection]:
        """Open a transaction; see `Store`.

        It waits for other writers when it begins, since a transaction that reads first would fail at
        its first write.
        """
        self.require_in_place()
        with self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.commit()

    @contextmanager
    def erasing(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA secure_delete = ON")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.commit()
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def require_in_place(self) -> None:
        """Raise StoreError if the file was deleted or replaced since it was opened."""
        if self._identity is not None and _identity(self.path) != self._identity:
            raise StoreError(
                f"{self.path} was deleted or replaced while it was in use: put it back "
                "(vlm-loom workspace restore, if there is a backup), and start again."
            )

    def damage_error(self, reason: str) -> StoreError:
        return self.kind.damage_error(self.path, reason)

    def close(self) -> None:
        self._engine.dispose()

    def explain(self, error: BaseException) -> BaseException:
        """Translate an error of the file to StoreError; return an error of a statement unchanged."""
        if not isinstance(error, sqlite3.DatabaseError):
            return error
        code = result_code(error)
        if is_damaged(error):
            message = str(error).partition(" with text ")[0]
            return self.damage_error(message)
        if code in REFUSED:
            if code == sqlite3.SQLITE_CANTOPEN and (limit := exhaustion_message(error)):
                return limit
            advice = "make room on its disk" if code == sqlite3.SQLITE_FULL else "put that right"
            return StoreError(f"{self.path} cannot be used ({error}): {advice}, and start again.")
        return error

    def connect(self) -> sqlite3.Connection:
        """Open a new connection to the file."""
        # Check first, since SQLite would create a deleted file again.
        self.require_in_place()
        connection = sqlite3.connect(
            address_of(self.path),
            uri=True,
            timeout=BUSY_TIMEOUT,
            isolation_level=None,
            check_same_thread=False,
        )
        # WAL mode with NORMAL may lose the last commits in a power failure.
        how = "FULL" if self.kind.outlives_power else "NORMAL"
        connection.execute(f"PRAGMA synchronous = {how}")
        return connection

    def _require_there(self) -> None:
        """Create the file if it is missing; a draft with the tables is renamed to it."""
        if self.path.exists():
            return
        draft = self.path.with_name(f"{self.path.name}.new")
        draft.unlink(missing_ok=True)
        with connected(lambda: sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            versions.create(connection, self.kind)
            _write_version(connection, self.kind.newest_version())
            connection.commit()
        # SQLite would apply the log of a deleted file to the new file.
        for end in ("-wal", "-shm"):
            Path(f"{self.path}{end}").unlink(missing_ok=True)
        draft.rename(self.path)

    def _bring_up_to_date(self) -> None:
        with self._engine.connect() as connection:
            _require_known(connection, self.kind, self.path)
            connection.exec_driver_sql("PRAGMA journal_mode = WAL").fetchone()
            version = versions.recorded_version(connection)
            if version == _version(connection) == self.kind.newest_version():
                return
        with self.transaction() as connection:
            versions.upgrade(connection, self.kind, _version(connection))
            declare_code(connection, self.kind)
            _write_version(connection, self.kind.newest_version())


def require_upgradable(kind: StoreKind, path: Path) -> None:
    """Check that a file can be upgraded to this version, without changing it.

    The missing migrations run on a copy of the tables in memory, without rows.

    Args:
        kind: The kind of store.
        path: The file.

    Raises:
        StoreError: The file cannot be upgraded.
    """
    with (
        _explained(kind, path),
        _opened(path, "mode=rw") as connection,
        connected(in_memory) as like_it,
    ):
        _require_known(connection, kind, path)
        version = _version(connection)
        like_it.exec_driver_sql("BEGIN")
        for (declared,) in connection.exec_driver_sql(_DECLARATIONS).fetchall():
            like_it.exec_driver_sql(declared)
        try:
            versions.upgrade(like_it, kind, version)
        except OperationalError as error:
            raise StoreError(
                f"{path} cannot be brought to this version, as the step to version "
                f"{(versions.recorded_version(like_it) or version) + 1} does not fit it "
                f"({error.orig}): {other_version_message(version)}"
            ) from None
        with connected(in_memory) as declared_alone:
            versions.create(declared_alone, kind)
            missing = sorted(_names(declared_alone) - _names(like_it))
        if missing:
            raise StoreError(
                f"{path} is a file of version {version}, but lacks {listed(missing)}: "
                f"{other_version_message(version)}"
            )


def require_store_kept(path: Path) -> None:
    """Raise StoreError if a file that nobody uses has a version that is too old to be upgraded.

    Does not raise if the file is missing, empty or damaged.
    """
    if size_of(path):
        with suppress(DBAPIError), _opened(path, "mode=ro&immutable=1") as connection:
            require_upgradable_stores(path, _version(connection))


def look(kind: StoreKind, path: Path, question: Callable[[Connection], T]) -> T:
    """Query a store on a read-only connection, in one snapshot.

    No file is created or changed, except for the index of a log that a killed process left behind.

    Args:
        kind: The kind of the store.
        path: Its file.
        question: Reads through the connection; it may be called twice.

    Raises:
        StoreError: The file has another version, or is damaged.
    """
    with _explained(kind, path):
        if not Path(f"{path}-wal").exists():
            # Nobody has it open. Without `immutable`, SQLite would leave two new files next to it.
            before = _stamp(path)
            with suppress(DBAPIError):
                answer = _ask(kind, path, "mode=ro&immutable=1", question)
                if _stamp(path) == before:
                    return answer
        return _ask(kind, path, "mode=ro", question)


def _ask(kind: StoreKind, path: Path, how: str, question: Callable[[Connection], T]) -> T:
    with _opened(path, how) as connection:
        connection.exec_driver_sql("BEGIN")
        if _require_known(connection, kind, path):
            raise StoreError(
                f"{path} has version {_version(connection)} and is read as version "
                f"{kind.newest_version()}: stop what an earlier vlm-loom runs, and start vlm-loom "
                "ui or any job, which brings it up to date."
            )
        return question(connection)


def _opened(path: Path, how: str) -> AbstractContextManager[Connection]:
    """Open an existing file with the parameters `how` of SQLite's URI."""
    address = f"{path.resolve().as_uri()}?{how}"
    return connected(
        lambda: sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)
    )


def _require_known(connection: Connection, kind: StoreKind, path: Path) -> bool:
    """Whether the file needs migrations. Raises StoreError if vlm-loom does not know its version."""
    require_content(path, kind)
    return bool(missing_steps(kind.steps, path, _version(connection)))


def address_of(path: Path) -> str:
    """Return the URI with which SQLite opens a file; read-only if this user may not write it."""
    if is_writable(path):
        return f"{path.resolve().as_uri()}?mode=rw"
    # Without a log nobody writes the file; `immutable` avoids that SQLite creates two files.
    unchanged = "" if Path(f"{path}-wal").exists() else "&immutable=1"
    return f"{path.resolve().as_uri()}?mode=ro{unchanged}"


def require_content(path: Path, kind: StoreKind) -> None:
    """Check that a store's file is not empty.

    Args:
        path: The file.
        kind: The kind of the store.

    Raises:
        StoreError: The file has 0 bytes.
    """
    if not (path.stat().st_size or size_of(Path(f"{path}-wal"))):
        raise StoreError(f"{path} is empty, but it had content: {kind.if_damaged}.")


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy a SQLite file in one snapshot while others write to it.

    Args:
        source: The file.
        target: The copy.
    """
    with (
        closing(sqlite3.connect(address_of(source), uri=True, timeout=BUSY_TIMEOUT)) as source_db,
        closing(sqlite3.connect(target, timeout=BUSY_TIMEOUT)) as target_db,
    ):
        # All pages in one step: otherwise each write of another process would restart the copy.
        source_db.backup(target_db)


def size_of(path: Path) -> int:
    """Return the size of a file in bytes; 0 if there is no file."""
    return path.stat().st_size if path.exists() else 0


@contextmanager
def _explained(kind: StoreKind, path: Path) -> Iterator[None]:
    """Translate SQLite's errors in the block, in which the file is opened, to StoreError."""
    try:
        yield
    except (sqlite3.Error, DBAPIError, StoreError) as raised:
        error = raised.orig if isinstance(raised, DBAPIError) else raised.__cause__ or raised
        if not isinstance(error, sqlite3.Error):
            raise
        if not is_writable(path):
            raise StoreError(unwritable(path, error)) from error
        if is_damaged(error):
            raise kind.damage_error(path, error) from error
        raise StoreError(
            f"{path} cannot be opened ({error}): put that right, and start again."
        ) from error


def _version(connection: Connection) -> int:
    """Read the version in `PRAGMA user_version`, as all versions since 0.2.0 do; 0 if unset."""
    return int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())


def _write_version(connection: Connection, version: int) -> None:
    connection.exec_driver_sql(f"PRAGMA user_version = {version}")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of the file at a path; None if there is no file."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_dev, stat.st_ino


def _names(connection: Connection) -> set[str]:
    """Return the names of tables, views, indexes and triggers, and of the tables' columns."""
    return {name for (name,) in connection.exec_driver_sql(_NAMES)}


def _stamp(path: Path) -> tuple[int, int, bool]:
    """Return a value that changes if the file is written, or if a process opens it for writing."""
    state = path.stat()
    return state.st_mtime_ns, state.st_size, Path(f"{path}-wal").exists()
