"""A store in a schema of a Postgres database, which many machines read and write at the same time."""

import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.string import StrDumperUnknown, TextLoader
from sqlalchemy import Connection, Engine, QueuePool, create_engine
from sqlalchemy.exc import DataError

from resources.files.system_errors import ResourceExhausted
from resources.migrations import StoreError, StoreUnavailable
from resources.stores import versions
from resources.stores.address import QUERY_CANCELED, STATEMENT_TIMEOUT, shown_address
from resources.stores.engine import StoreKind, track_engine
from resources.stores.outages import open_session

LOCK_SECONDS = 60
"""Seconds to wait for other writers; transactions take milliseconds, so a longer wait is a hang."""
STILL_SECONDS = 300
"""The server ends a transaction after this many seconds without a statement: it may hold locks."""
ROWS_AT_ONCE = 500
"""A streamed query fetches this many rows from the server at a time."""
_AWAY = (
    "08",  # the connection failed
    "25P03",  # a transaction was idle for too long: its process was suspended
    "40",  # a transaction was rolled back, for example because of a deadlock
    QUERY_CANCELED,  # a statement took longer than statement_timeout, or somebody cancelled it
    "530",  # resources are exhausted; not 53100, as a full disk stays full
    "532",  # memory
    "533",  # connections
    "534",  # a limit of the configuration
    "55P03",  # a lock was not available in time
    "57P",  # the server stops or starts
    "25006",  # the server is read-only, such as a standby
)
"""Prefixes of the codes of temporary errors."""
_ADVICE = {
    "53100": "make room on the disk of its server, and start again",
    QUERY_CANCELED: STATEMENT_TIMEOUT,
    "53300": "raise max_connections of its server, or stop what else uses it",
    "42501": "let its user CREATE schemas in the database, and use those that are there",
    "25006": "name the server in LOOM_STORES that may be written",
}
_READ_ONLY = "session is read-only"
"""libpq's message about a server that it did not choose; such an error has no code."""
_UNREACHED = (
    "see that its server runs and can be reached, and that LOOM_STORES names a database and user that "
    "it has (the password may be in PGPASSWORD or ~/.pgpass)"
)
_DAMAGED = (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName)
_WRITERS = 0x6C6F6F6D
"""The first key of the advisory lock of a store's writers; the second key is the store's."""
_ESCAPE = "\U0010ffff"
"""An escape character that texts do not contain; it encodes NUL, which Postgres cannot store."""
_opened: "dict[tuple[str, str], PostgresStore]" = {}
_opening = threading.Lock()


def open_schema(kind: StoreKind, address: str) -> "PostgresStore":
    """Open the store of a kind in a database, once per process, so that all users share connections.

    Args:
        kind: The kind of store.
        address: The address of the database.
    """
    with _opening:
        if (kind.name, address) not in _opened:
            _opened[kind.name, address] = PostgresStore(kind, address)
        return _opened[kind.name, address]


class PostgresStore:
    """The store of a kind in the database at `address`.

    Opening creates its schema or upgrades it to the current version; if several processes start at the
    same time, one of them does this.

    Raises:
        StoreError: The database cannot be used, or a later version made the schema.
    """

    def __init__(self, kind: StoreKind, address: str):
        self.kind = kind
        self.shown = f"{shown_address(address)} (schema {kind.name})"
        self._lock = zlib.crc32(kind.name.encode()) >> 1
        settings = {"search_path": f'"{kind.name}"'}
        if not kind.outlives_power:
            settings["synchronous_commit"] = "off"
        self._engine = engine_at(address, self.shown, kind.name, settings)
        self._bring_up_to_date()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection

    @contextmanager
    def streamed(self) -> Iterator[Connection]:
        with self.snapshot() as connection:
            yield connection.execution_options(yield_per=ROWS_AT_ONCE)

    @contextmanager
    def transaction(self, *, in_turn: bool = True) -> Iterator[Connection]:
        turn = f"pg_advisory_xact_lock({_WRITERS}, {self._lock}), " if in_turn else ""
        with self._engine.connect() as connection, connection.begin() as block:
            # One message to the server; it reads the clock after it has taken the lock.
            transaction, at = self._at_once(
                connection,
                f"BEGIN; SELECT {turn}pg_current_xact_id()::text, "
                "extract(epoch FROM clock_timestamp())::float8",
            )
            # Keep `info`: after a failure of the session, `connection.info` is not accessible.
            info = connection.info
            info["began"] = at, time.monotonic()
            try:
                yield connection
            finally:
                info.pop("began", None)
            try:
                block.commit()
            except StoreUnavailable:
                if not (connection.invalidated and self._was_committed(transaction)):
                    raise

    @contextmanager
    def erasing(self) -> Iterator[Connection]:
        with self.transaction() as connection:
            yield connection
        with self.read() as connection:
            connection.exec_driver_sql("VACUUM")

    def require_in_place(self) -> None:
        """Does not raise. The first query reports an unreachable server."""

    def damage_error(self, reason: str) -> StoreError:
        return StoreError(f"{self.shown} is damaged ({reason}): {_restoring(self.kind.name)}.")

    def close(self) -> None:
        self._engine.dispose()

    def _at_once(self, connection: Connection, statements: str) -> tuple[str, float]:
        """Send several statements in one message; return the last two values of the last one."""
        session = connection.connection.driver_connection
        assert session is not None
        try:
            # Several statements in one message cannot be prepared.
            begun = session.execute(statements, prepare=False)
        except psycopg.Error as error:
            if session.closed:
                connection.invalidate(error)
            raise store_error(error, self.shown, self.kind.name) from error
        begun.set_result(-1)
        *_, transaction, at = begun.fetchone()
        return transaction, at

    def _was_committed(self, transaction: str) -> bool:
        with self.read() as connection:
            status = f"SELECT pg_xact_status('{transaction}'::xid8)"
            try:
                return bool(connection.exec_driver_sql(status).scalar() == "committed")
            except DataError:
                # After a crash the server does not know the number: the transaction was not committed.
                return False

    def _bring_up_to_date(self) -> None:
        newest = self.kind.newest_version()
        with self.read() as connection:
            if versions.recorded_version(connection) == newest:
                return
        with self.transaction() as connection:
            # Another process may have done it meanwhile.
            version = _version(connection)
            if version > newest:
                raise StoreError(
                    f"{self.shown} has version {version} and this version of vlm-loom knows versions "
                    f"up to {newest}: a newer or another version of vlm-loom made it. Update vlm-loom "
                    "on this machine."
                )
            if version:
                versions.upgrade(connection, self.kind, version)
            else:
                connection.exec_driver_sql(f'CREATE SCHEMA IF NOT EXISTS "{self.kind.name}"')
                versions.create(connection, self.kind)


def engine_at(address: str, shown: str, name: str, settings: dict[str, str]) -> Engine:
    """Create an engine whose sessions commit each statement outside transactions.

    Args:
        address: The address of the database.
        shown: The address in messages, without the password.
        name: The application name of the sessions.
        settings: Server settings of these sessions.

    Returns:
        The engine. Sessions are checked before each use, and broken ones are replaced.
    """
    options = {
        "lock_timeout": f"{LOCK_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{STILL_SECONDS}s",
        # A machine that loses its network or power holds locks for at most about a minute.
        "tcp_keepalives_idle": "30",
        "tcp_keepalives_interval": "10",
        "tcp_keepalives_count": "3",
        **settings,
    }
    session_options = " ".join(f"-c {key}={value}" for key, value in options.items())
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: _session(address, shown, name, session_options),
        poolclass=QueuePool,
        max_overflow=-1,
        pool_pre_ping=True,
        hide_parameters=True,
    )
    return track_engine(engine, lambda error: store_error(error, shown, name))


def store_error(error: BaseException, shown: str, name: str) -> BaseException:
    """Translate an error of the server or database to StoreError; return any other error unchanged."""
    if not isinstance(error, psycopg.Error) or isinstance(error, psycopg.IntegrityError):
        return error
    code = error.sqlstate or ""
    advice = next((text for start, text in _ADVICE.items() if code.startswith(start)), None)
    message = " ".join(str(error).split()) or type(error).__name__
    if _READ_ONLY in message:
        advice = _ADVICE["25006"]
    if isinstance(error, _DAMAGED):
        return StoreError(f"{shown} lacks tables that it had ({message}): {_restoring(name)}.")
    if code.startswith(_AWAY) or (
        not code and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    ):
        return StoreUnavailable(
            f"{shown} cannot be used ({message}): {advice or _UNREACHED}, and start again."
        )
    if advice:
        kind = ResourceExhausted if isinstance(error, errors.DiskFull) else StoreError
        return kind(f"{shown} cannot be used ({message}): {advice}.")
    return error


def _restoring(name: str) -> str:
    """Return the advice for a store without its tables or rows, in the schema `name`."""
    return (
        "restore it with pg_restore, or, to begin without it, rename its schema "
        f"(ALTER SCHEMA {name} RENAME TO ...)"
    )


def _session(address: str, shown: str, name: str, options: str) -> psycopg.Connection:
    """Open a new session; wait for a server that this process has reached before.

    A server that is read-only, as a standby is until a failover ends, counts as away.
    """
    attributes = conninfo_to_dict(address).get("target_session_attrs", "read-write")

    def connect() -> psycopg.Connection:
        return psycopg.connect(
            address,
            autocommit=True,
            options=options,
            connect_timeout=10,
            target_session_attrs=attributes,
            application_name=f"vlm-loom {name}",
        )

    session = open_session(address, shown, connect, psycopg.OperationalError)
    session.adapters.register_dumper(str, _TextDumper)
    session.adapters.register_loader("text", _TextLoader)
    session.adapters.register_loader("numeric", _SumLoader)
    return session


def _version(connection: Connection) -> int:
    """Return the version of a store; 0 if there is no store."""
    version = versions.recorded_version(connection)
    if version is not None:
        return version
    has_table = connection.exec_driver_sql(
        "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'loom_version'"
    ).fetchone()
    if has_table is None:
        return 0
    return int(connection.exec_driver_sql("SELECT version FROM loom_version").scalar_one())


class _TextDumper(StrDumperUnknown):
    """Encodes texts; escapes NUL, which Postgres cannot store."""

    def dump(self, obj: str) -> Buffer | None:
        if "\0" in obj or _ESCAPE in obj:
            obj = obj.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")
        return super().dump(obj)


class _TextLoader(TextLoader):
    def load(self, data: Buffer) -> bytes | str:
        text = super().load(data)
        if isinstance(text, str) and _ESCAPE in text:
            text = text.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE)
        return text


class _SumLoader(Loader):
    """Loads the type `numeric`, which only sums and means of integers have, as int or float."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text or "N" in text else int(text)
