"""One SQLite file that many threads and processes read and write at once.

What belongs here: connections, transactions, versions, copies. What is in the tables is their owner's:
the ledger of model calls, the review store, the image index.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import ClassVar, TypeVar

from filelock import FileLock

from methods.naming import listed
from resources.files.home import is_writable
from resources.migrations import (
    Migration,
    StoreError,
    another_version,
    current_version,
    missing_steps,
    require_kept,
)
from resources.sqlite_connection import NamedConnection
from resources.stores.sqlite import (
    BUSY_TIMEOUT,
    _identity,
    _stamp,
    address_of,
    require_content,
    size_of,
)
from resources.stores.sqlite_errors import is_damaged, unwritable
from resources.stores.versions import statements

T = TypeVar("T")
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


class SqliteFile:
    """Connections to one file, one for each thread, opened when first used.

    Opening it brings the file to the current version (`resources/migrations.py`). Raises StoreError
    when a later version made it, or one before the baseline, or when it is no such file. Each step is
    one transaction with the number of its version, which stands in SQLite's `user_version`.

    Once it is open, whatever SQLite says of the file is a StoreError, and so is the file's being
    deleted or replaced: nothing is written where nobody would find it.

    A file that this user may not write is read as it is; each write is refused.
    """

    NAME: ClassVar[str]
    """The store's name on Postgres, where it is a schema of a database."""

    SCHEMA: ClassVar[tuple[Path, ...]]
    """The files that declare the tables; their folder has the folder `migrations/`."""

    ROWS: ClassVar[Callable | None] = None
    """The connections' row factory; None for tuples."""

    OUTLIVES_POWER: ClassVar[bool] = True
    """Whether what was committed is to be there after a power cut."""

    IF_DAMAGED: ClassVar[str] = (
        "restore a backup (vlm-loom home restore), or, to begin without it, move it and any -wal file "
        "next to it into another folder"
    )
    """What to do about a damaged file."""

    _identity: tuple[int, int] | None = None
    """Device and number of the file that was opened; None until it is there."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._threads = threading.local()
        if self.path.exists() and not is_writable(self.path):
            self.look(self.path, lambda _: None)
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Turning WAL on does not wait for other connections as a transaction does, so the first
        # processes to arrive take turns.
        lock = FileLock(f"{self.path}.lock", timeout=BUSY_TIMEOUT)
        with _explained(self.path, self.IF_DAMAGED), lock:
            self._require_there()
            with self.alone() as connection:
                self._bring_up_to_date(connection)
                self._identity = _identity(self.path)

    @classmethod
    def require_upgradable(cls, path: Path) -> None:
        """Raise StoreError unless the file can be brought to this version; its rows stay as they are.

        The steps that it lacks are run on tables like its own, in memory and without rows.
        """
        with (
            _explained(path, cls.IF_DAMAGED),
            closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as connection,
            closing(sqlite3.connect(":memory:", isolation_level=None)) as like_it,
        ):
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT * 1000:.0f}")
            steps = cls._missing_steps(connection, path)
            version = _version(connection)
            for (declared,) in connection.execute(_DECLARATIONS).fetchall():
                like_it.execute(declared)
            try:
                for step in steps:
                    _run(like_it, [step.text()], step.version)
            except sqlite3.OperationalError as error:
                raise StoreError(
                    f"{path} cannot be brought to this version, as the step to version {step.version} "
                    f"does not fit it ({error}): {another_version(version)}"
                ) from None
            cls._require_form(like_it, path, version)

    @classmethod
    def _require_form(cls, found: sqlite3.Connection, path: Path, version: int) -> None:
        """Raise StoreError unless all that the schema declares is there, with its columns."""
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as declared:
            _run(declared, cls._schema(), version)
            missing = sorted(_names(declared) - _names(found))
        if missing:
            raise StoreError(
                f"{path} is a file of version {version}, but lacks {listed(missing)}: "
                f"{another_version(version)}"
            )

    @classmethod
    def look(cls, path: Path, question: Callable[[sqlite3.Connection], T]) -> T:
        """What `question` finds through a connection that only reads, as the file is at one moment.

        No file is made or changed, but for the index of a log that a killed process left, and who
        writes goes on. `question` may be asked twice. Raises StoreError when the file is not of this
        version, or is damaged.
        """
        with _explained(path, cls.IF_DAMAGED):
            if not Path(f"{path}-wal").exists():
                # Nobody has it open. Opened as usual it would get two files beside it that stay.
                before = _stamp(path)
                with suppress(sqlite3.Error):
                    answer = cls._ask(path, "mode=ro&immutable=1", question)
                    if _stamp(path) == before:
                        return answer
            return cls._ask(path, "mode=ro", question)

    @classmethod
    def _ask(cls, path: Path, how: str, question: Callable[[sqlite3.Connection], T]) -> T:
        opened = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, isolation_level=None)
        with closing(opened) as connection:
            connection.execute("BEGIN")
            steps = cls._missing_steps(connection, path)
            if steps:
                raise StoreError(
                    f"{path} has version {_version(connection)} and is read as version "
                    f"{steps[-1].version}: "
                    "stop what an earlier vlm-loom runs, and start vlm-loom ui or any job, "
                    "which brings it "
                    "up to date."
                )
            return question(connection)

    @classmethod
    def require_kept(cls, path: Path) -> None:
        """Raise StoreError where the file at `path`, which nobody uses, is from before the baseline.

        One that is not there, is empty or is damaged is none of those.
        """
        address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        if size_of(path):
            with suppress(sqlite3.Error), closing(sqlite3.connect(address, uri=True)) as connection:
                require_kept(path, _version(connection))

    @classmethod
    def newest_version(cls) -> int:
        """The version that files have when this version of vlm-loom has opened them."""
        return current_version(cls.migrations_folder())

    @classmethod
    def require_known(cls, path: Path, version: int) -> None:
        """Raise StoreError where this version of vlm-loom knows no files of the version of `path`."""
        missing_steps(cls.migrations_folder(), path, version)

    @property
    def connection(self) -> NamedConnection:
        """This thread's connection, opened when first used: opening one takes 50 times a look-up."""
        # A child process must not go on with its parent's.
        if getattr(self._threads, "process", None) != os.getpid():
            self._threads.connection = self._open()
            self._threads.process = os.getpid()
        connection: NamedConnection = self._threads.connection
        return connection

    @contextmanager
    def transaction(self, *, in_turn: bool = True) -> Iterator[NamedConnection]:
        """This thread's connection inside a transaction, on disk when the block ends.

        It takes the writers' turn at once: one that had read first would be refused, not kept waiting.
        A file has one writer at a time, whatever `in_turn` says.
        """
        self.require_in_place()
        connection = self.connection
        with connection.named_errors(), connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def require_in_place(self) -> None:
        """Raise StoreError if the file that was opened is no longer the one at its path."""
        if self._identity is not None and _identity(self.path) != self._identity:
            raise StoreError(
                f"{self.path} was deleted or replaced while it was in use: put it back "
                "(vlm-loom home restore, if there is a backup), and start again."
            )

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection for several reads of one state of the file."""
        with self.connection as connection:
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def erasing(self) -> Iterator[sqlite3.Connection]:
        """A transaction after which what it removed is left nowhere in the file."""
        self.connection.execute("PRAGMA secure_delete = ON")
        with self.transaction() as connection:
            yield connection
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """A connection for this block only."""
        with closing(self._open()) as connection:
            yield connection

    def close(self) -> None:
        """Close this thread's connection; the next use opens another."""
        if getattr(self._threads, "process", None) == os.getpid():
            self._threads.connection.close()
            del self._threads.connection, self._threads.process

    def _open(self) -> NamedConnection:
        # SQLite would make a file that is not there anew.
        self.require_in_place()
        # Transactions are begun where they are wanted, not by the module.
        connection = sqlite3.connect(
            address_of(self.path),
            uri=True,
            timeout=BUSY_TIMEOUT,
            isolation_level=None,
            factory=NamedConnection,
        )
        connection.path, connection.advice = self.path, self.IF_DAMAGED
        connection.row_factory = self.ROWS
        # WAL alone may lose the last commits with the power: what was paid for, or a person's work.
        how = "FULL" if self.OUTLIVES_POWER else "NORMAL"
        connection.execute(f"PRAGMA synchronous = {how}")
        return connection

    def _require_there(self) -> None:
        """Make the file if there is none. It gets its name when it has its tables."""
        if not self.path.exists():
            draft = self.path.with_name(f"{self.path.name}.new")
            draft.unlink(missing_ok=True)
            with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                _run(connection, self._schema(), self.newest_version())
            # What a deleted file left beside it would be taken for the new one's.
            for end in ("-wal", "-shm"):
                Path(f"{self.path}{end}").unlink(missing_ok=True)
            draft.rename(self.path)

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        steps = self._missing_steps(connection, self.path)
        connection.execute("PRAGMA journal_mode = WAL")
        for step in steps:
            _run(connection, [step.text()], step.version)

    @classmethod
    def _schema(cls) -> list[str]:
        return [path.read_text(encoding="utf-8") for path in cls.SCHEMA]

    @classmethod
    def migrations_folder(cls) -> Path:
        """The folder with the steps between versions; it may not be there."""
        return cls.SCHEMA[0].with_name("migrations")

    @classmethod
    def _missing_steps(cls, connection: sqlite3.Connection, path: Path) -> list[Migration]:
        require_content(path)
        return missing_steps(cls.migrations_folder(), path, _version(connection))


@contextmanager
def _explained(path: Path, if_damaged: str) -> Iterator[None]:
    """Raise StoreError, one sentence, for what SQLite says of the file while it is opened."""
    try:
        yield
    except (sqlite3.Error, StoreError) as raised:
        error = raised if isinstance(raised, sqlite3.Error) else raised.__cause__
        if not isinstance(error, sqlite3.Error):
            raise
        if not is_writable(path):
            raise StoreError(unwritable(path, error)) from error
        advice = if_damaged if is_damaged(error) else "put that right, and start again"
        raise StoreError(
            f"{path} cannot be opened by this version of vlm-loom ({error}): {advice}."
        ) from error


def _run(connection: sqlite3.Connection, scripts: Iterable[str], version: int) -> None:
    """Run scripts and write down the version that they make, in one transaction."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for script in scripts:
            for statement in statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")


def _names(connection: sqlite3.Connection) -> set[str]:
    """Names of tables, views, indexes and triggers, and of the tables' columns."""
    return {name for (name,) in connection.execute(_NAMES)}


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
