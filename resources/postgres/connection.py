"""A connection to a store on Postgres, used as a connection to SQLite's file is.

What belongs here: statements in SQLite's dialect, transactions, and which of Postgres's errors are
about the server or the database, with the sentence for each. Errors of a statement or of a row stay
what they are. A connection that broke is opened again by the next statement outside a transaction.
"""

import logging
import math
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count, islice
from typing import Any

import psycopg
from psycopg import errors
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.rows import BaseRowFactory, tuple_row
from psycopg.sql import Literal
from psycopg.types.string import StrDumperUnknown, TextLoader

from resources.migrations import StoreAway, StoreError
from resources.postgres.dialect import translated

LOCK_SECONDS = 60
"""Seconds to wait for other writers: a transaction takes milliseconds, so this is a hang."""
STILL_SECONDS = 300
"""Seconds without a statement after which a transaction ends, which may hold locks of others."""
OUTAGE_SECONDS = 60.0
"""How long a process waits for a server that it has reached before, in all of its sessions together: a
restart takes seconds."""
_PAUSE_SECONDS = 0.1
ROWS_AT_ONCE = 500
"""Rows that a query of many is given at a time."""
_OPTIONS = {
    "lock_timeout": f"{LOCK_SECONDS}s",
    # A machine that went away with its network or power holds nothing for longer than a minute.
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
_AWAY = (
    "08",  # the connection
    "25P03",  # a transaction in which nothing was done for too long: its process stood still
    "40",  # a transaction that was rolled back, such as one of two that waited for each other
    "53",  # resources: the disk, memory, connections
    "55P03",  # a lock that another holds too long
    "57P",  # the server is stopped, or starts
    "25006",  # the server only reads, as a standby does
)
"""Beginnings of the codes of errors that may pass."""
_ADVICE = {
    "53100": "make room on the disk of its server",
    "53300": "raise max_connections of its server, or stop what else uses it",
    "42501": "let its user CREATE schemas in the database, and use those that are there",
    "25006": "name the server in LOOM_STORES that may be written",
}
_UNREACHED = (
    "see that its server runs and can be reached, and that LOOM_STORES names a database and user that "
    "it has (the password may be in PGPASSWORD or ~/.pgpass)"
)
_AGAIN = ("SELECT", "WITH", "BEGIN")
"""Beginnings of statements that may be run again in another session."""
_waited_for: dict[str, float] = {}
"""Address of each server that was reached -> when waiting for it ends; inf while it answers."""
_LOG = logging.getLogger(__name__)
_DAMAGED = (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName)
_VALUE = re.compile(r"\$(\d+)")
_ESCAPE = "\U0010ffff"
"""A character of no text, which stands for the one that Postgres cannot store."""


class _TextDumper(StrDumperUnknown):
    """Texts, those with the character 0 among them: Postgres has no such character."""

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
    """Sums of whole numbers, and means of them: no column has a type of its own for these."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text or "N" in text else int(text)


class NamedRow(tuple[Any, ...]):
    """A row whose values are had by place or by name."""

    names: Mapping[str, int] = {}

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.names[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
        """The names of the columns."""
        return list(self.names)


def named_row(cursor: Any) -> Callable[[Sequence[Any]], NamedRow]:
    """The factory of rows with names."""
    places = {column.name: place for place, column in enumerate(cursor.description or ())}
    return type("Row", (NamedRow,), {"names": places})


class PostgresConnection:
    """One session; `shown` names the store in errors, `kind` says how rows are made."""

    def __init__(
        self, address: str, schema: str, shown: str, settings: Mapping[str, str], rows: Any
    ):
        self._address, self._schema, self._shown = address, schema, shown
        self._settings = {**_OPTIONS, "search_path": f'"{schema}"', **settings}
        self._rows: BaseRowFactory[Any] = rows or tuple_row
        self._inside = self._ended = False
        self._streams: Iterator[int] | None = None
        self._began: tuple[float, float] | None = None
        self.n_sessions = 0
        """Sessions that there have been: one more each time that one broke."""
        self._session = self._connect()

    def execute(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """Run a statement in SQLite's dialect; a cursor whose rows answer as SQLite's do."""
        statement = translated(sql)
        return self._run(statement.sql, statement.values(parameters))

    def executemany(self, sql: str, rows: Iterable[Any]) -> Any:
        """Run a statement for each of the rows."""
        return self._send_each(sql, rows, returning=False)

    def execute_each(self, sql: str, rows: Iterable[Any]) -> list[int]:
        """Run a change for each of the rows; how many rows of the table each of them has changed."""
        changed = self._send_each(sql, rows, returning=True)
        return [each.rowcount for each in changed.results()]

    def native(self, sql: str, values: Sequence[Any] = (), *, anew: bool = True) -> Any:
        """Run a statement in Postgres's own dialect; without `anew` in the session that there is."""
        if anew:
            return self._run(sql, values)
        with self.named_errors():
            return self._session.execute(sql, values)

    def seconds(self) -> float:
        """The time by the server's clock, the same for all machines: seconds since 1970."""
        if self._began is not None:
            at, here = self._began
            return at + time.monotonic() - here
        return float(
            self.native("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()[0]
        )

    @contextmanager
    def transaction(self, lock: int | None) -> Iterator[None]:
        """A transaction that is durable when the block ends, in which no other has the same `lock`."""
        turn = "" if lock is None else f"pg_advisory_xact_lock({_WRITERS}, {lock}), "
        with self.named_errors():
            # Together in one message; the clock is read when the lock is there.
            begun = self._run(
                "BEGIN; "
                f"SET LOCAL idle_in_transaction_session_timeout = '{STILL_SECONDS}s'; "
                f"SELECT {turn}pg_current_xact_id()::text, "
                "extract(epoch FROM clock_timestamp())::float8",
                None,
            )
            begun.set_result(-1)
            *_, transaction, at = tuple(begun.fetchone())
            self._began, self._inside = (at, time.monotonic()), True
            try:
                yield
                self._commit(transaction)
            except BaseException:
                with suppress(psycopg.Error):
                    self._session.execute("ROLLBACK")
                raise
            finally:
                self._began, self._inside = None, False

    @contextmanager
    def snapshot(self, *, streamed: bool = False) -> Iterator[None]:
        """A transaction that reads one state; with `streamed` rows come from the server as they are
        read, not all at once."""
        with self.named_errors():
            self._run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", None)
            self._streams, self._inside = count() if streamed else None, True
            try:
                yield
            finally:
                self._streams, self._inside = None, False
                with suppress(psycopg.Error):
                    self._session.execute("ROLLBACK")

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Raise StoreError for errors of the server or the database in this block."""
        try:
            yield
        except psycopg.Error as error:
            raise self._named(error) from error

    def close(self) -> None:
        """End the session for good."""
        self._ended = True
        self._session.close()

    def _run(self, sql: str, values: Sequence[Any] | None) -> Any:
        with self.named_errors():
            try:
                return self._send(sql, values)
            except psycopg.OperationalError:
                # The server may have been started anew since the session was used last.
                if self._inside or not self._session.closed or not sql.lstrip().startswith(_AGAIN):
                    raise
                return self._send(sql, values)

    def _send(self, sql: str, values: Sequence[Any] | None) -> Any:
        session = self._opened()
        if self._streams is not None:
            name = f"rows_{next(self._streams)}"
            stream = psycopg.ServerCursor(session, name, row_factory=self._rows)
            stream.itersize = ROWS_AT_ONCE
            # Of a cursor's values Postgres does not find the types: they stand in the statement.
            written = [Literal(value).as_string(session) for value in values or ()]
            return stream.execute(_VALUE.sub(lambda at: written[int(at[1]) - 1], sql).encode())
        # Several statements in one message cannot be prepared.
        return session.execute(sql, values, prepare=False if values is None else None)

    def _send_each(self, sql: str, rows: Iterable[Any], *, returning: bool) -> Any:
        """Run a statement for each of the rows, in messages that do not wait for each other's answers.

        With `returning` the cursor has a result of each.
        """
        statement = translated(sql)
        values = map(statement.values, rows)
        first = list(islice(values, 2))
        if len(first) == 1:
            return self._run(statement.sql, first[0])
        with self.named_errors():
            cursor = self._opened().cursor()
            if first:
                cursor.executemany(statement.sql, chain(first, values), returning=returning)
        return cursor

    def _opened(self) -> psycopg.Connection[Any]:
        """The session; another where it broke and nothing was begun in it."""
        if self._session.closed and not (self._inside or self._ended):
            self._session = self._connect()
        return self._session

    def _connect(self) -> psycopg.Connection[Any]:
        options = " ".join(f"-c {name}={value}" for name, value in self._settings.items())
        with self.named_errors():
            while True:
                try:
                    session: psycopg.Connection[Any] = psycopg.connect(
                        self._address,
                        autocommit=True,
                        cursor_factory=psycopg.RawCursor,
                        row_factory=self._rows,
                        options=options,
                        connect_timeout=10,
                        application_name=f"vlm-loom {self._schema}",
                    )
                    break
                except psycopg.OperationalError as error:
                    if not self._is_waited_for(error):
                        raise
                    time.sleep(_PAUSE_SECONDS)
        _waited_for[self._address] = math.inf
        self.n_sessions += 1
        session.adapters.register_dumper(str, _TextDumper)
        session.adapters.register_loader("text", _TextLoader)
        session.adapters.register_loader("numeric", _SumLoader)
        return session

    def _is_waited_for(self, error: psycopg.Error) -> bool:
        """Whether a server that does not answer is tried again: one that this process has reached."""
        now = time.monotonic()
        until = _waited_for.get(self._address, now)
        if until == math.inf:
            until = _waited_for[self._address] = now + OUTAGE_SECONDS
            reason = " ".join(str(error).split())
            _LOG.warning(
                f"{self._shown} does not answer ({reason}): waiting for it for {OUTAGE_SECONDS:.0f} s "
                "at most."
            )
        return now < until

    def _commit(self, transaction: str) -> None:
        try:
            self._session.execute("COMMIT")
        except psycopg.OperationalError:
            if not (self._session.closed and self._was_committed(transaction)):
                raise

    def _was_committed(self, transaction: str) -> bool:
        """What became of a transaction while whose commit the connection broke."""
        self._inside = False
        try:
            asked = self.native(f"SELECT pg_xact_status('{transaction}'::xid8)")
        except errors.InvalidParameterValue:
            return False  # A server that crashed has lost it, its number included.
        return bool(asked.fetchone()[0] == "committed")

    def _named(self, error: psycopg.Error) -> Exception:
        code = error.sqlstate or ""
        advice = next((text for start, text in _ADVICE.items() if code.startswith(start)), None)
        told = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, psycopg.IntegrityError):
            # A rule of a table was broken: who uses the store knows one error for that.
            return sqlite3.IntegrityError(told)
        if isinstance(error, _DAMAGED):
            return StoreError(
                f"{self._shown} lacks tables that it had ({told}): restore it with pg_restore, or, to "
                f"begin without it, rename its schema (ALTER SCHEMA {self._schema} RENAME TO ...)."
            )
        if code.startswith(_AWAY) or (
            not code and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        ):
            return StoreAway(
                f"{self._shown} cannot be used ({told}): {advice or _UNREACHED}, and start again."
            )
        if advice:
            return StoreError(f"{self._shown} cannot be used ({told}): {advice}.")
        return error


_WRITERS = 0x6C6F6F6D
"""The first number of the locks that writers of a store take in turns."""
