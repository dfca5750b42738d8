"""The base class of the warehouse's databases: connections, upgrades and transactional writes.

`file_database.py` implements it for a DuckDB file, `lake_database.py` for a lake. The database is only
open while it is used: each call, or each block of reads (`kept_open`), opens it, runs one transaction
and closes it.
"""

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from resources.warehouse.declarations import WarehouseError
from resources.warehouse.versions import upgrade_steps
from resources.warehouse.writes import BULK_SETTINGS, TableWrite, memory_bound

if TYPE_CHECKING:
    import duckdb

Result = TypeVar("Result")
NO_TABLES = "There are no tables yet: run vlm-loom demo or a job first."
EARLIER_VERSION = (
    "The tables are of an earlier version: start vlm-loom ui or any job, which brings them up to "
    "date."
)
_NO_MEMORY = re.compile(r"/[\d.]+ \w+ used\)")


@contextmanager
def raise_interrupts() -> Iterator[None]:
    """Raise the interrupt that ended a query in the block.

    If a handler of SIGINT raises an exception during a query, DuckDB raises RuntimeError with that
    exception as its cause. A RuntimeError would only fail the step, and not end the run.
    """
    try:
        yield
    except RuntimeError as error:
        interrupt = error.__cause__
        if interrupt is None or isinstance(interrupt, Exception):
            raise
        raise interrupt from None


@contextmanager
def end_query(connection: "duckdb.DuckDBPyConnection") -> Iterator[None]:
    """End the query of a connection if an error leaves the block.

    After an interrupt DuckDB may go on with the query, and the next one, or closing, waits for its end.
    """
    try:
        yield
    except BaseException:
        connection.interrupt()
        raise


class Database(ABC):
    """Connections to one database; safe among any number of threads and processes."""

    def __init__(self, log: Callable[[str], None]):
        self.log = log
        self._ready = False
        self._kept = threading.local()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the database in messages."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether the tables were created."""

    @contextmanager
    def opened(
        self, own_instance: bool = False, rows_at_once: int | None = None
    ) -> "Iterator[duckdb.DuckDBPyConnection]":
        """Open a connection to the database, whatever its version is. An interrupt during a query is
        raised as itself.

        Args:
            own_instance: Whether the connection gets its own DuckDB instance, for instance-wide
                settings.
            rows_at_once: DuckDB's row group size; None for its default.
        """
        with (
            raise_interrupts(),
            self._opened(own_instance, rows_at_once) as connection,
            end_query(connection),
        ):
            yield connection

    @abstractmethod
    def _opened(
        self, own_instance: bool, rows_at_once: int | None
    ) -> "AbstractContextManager[duckdb.DuckDBPyConnection]": ...

    @abstractmethod
    def snapshot(self) -> "AbstractContextManager[duckdb.DuckDBPyConnection]":
        """Open a read-only connection, which does not upgrade the tables and does not wait long.

        Raises:
            WarehouseError: There are no tables of this version, or they cannot be read now.
        """

    @abstractmethod
    def copy_to(self, target: Path) -> None:
        """Copy a snapshot of the tables to a new DuckDB file."""

    @abstractmethod
    def _bring_up_to_date(self, connection: "duckdb.DuckDBPyConnection") -> None: ...

    @abstractmethod
    def _replace_all(self, writes: Sequence[TableWrite], settings: str | None) -> None: ...

    @abstractmethod
    def _unusable(self, error: "duckdb.Error") -> WarehouseError | None:
        """Translate an error of the database; return None for an error of the query."""

    @abstractmethod
    def _not_upgraded(self, reason: str) -> WarehouseError: ...

    def reading(self, query: Callable[[], Result]) -> Result:
        """Run a read that opens its connection; a server's database repeats it after an outage."""
        return query()

    def check(self) -> None:
        """Upgrade the tables to this version now, not at the first use. Raises WarehouseError."""
        with self.connection():
            pass

    def require_upgradable(self) -> None:
        """Raise WarehouseError if the tables cannot be upgraded to this version. Changes nothing."""
        with self.opened() as connection, self._upgrade_errors():
            upgrade_steps(connection, self.name)

    @contextmanager
    def connection(
        self, *, own_instance: bool = False, rows_at_once: int | None = None
    ) -> "Iterator[duckdb.DuckDBPyConnection]":
        """Open a connection as `opened`, or return the thread's open one. The first use upgrades the
        tables.
        """
        import duckdb

        # DuckDB imports pandas at its first query. An interrupt during that import would be lost, and
        # the import lock would stay locked for all threads: import it now.
        import pandas  # noqa: F401

        if (open_connection := getattr(self._kept, "connection", None)) is not None:
            yield open_connection
            return
        with self.opened(own_instance, rows_at_once) as connection:
            # Once per process: no other version of the code writes the tables while this one runs.
            if not self._ready:
                with self._upgrade_errors():
                    self._bring_up_to_date(connection)
                self._ready = True
            try:
                yield connection
            except duckdb.Error as error:
                # A truncated file is only noticed by the query that reads the missing part.
                if unusable := self._unusable(error):
                    raise unusable from error
                raise

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep one connection open for all reads of this thread in the block.

        Opening takes longer than reading a few rows. A DuckDB file is locked for other processes
        meanwhile, so do slow work outside the block.
        """
        if hasattr(self._kept, "connection"):
            yield
            return
        with self.connection() as self._kept.connection:
            try:
                yield
            finally:
                del self._kept.connection

    @contextmanager
    def at_one_moment(self, connection: "duckdb.DuckDBPyConnection") -> Iterator[None]:
        """Run the block in one transaction, so that all reads see the same state of the tables."""
        connection.begin()
        yield
        connection.commit()

    def replace_all(self, writes: Sequence[TableWrite]) -> None:
        """Run the writes as one transaction, all or none. Raises WarehouseError."""
        bound = memory_bound(writes)
        if bound is None:
            self._replace_all(writes, None)
            return
        try:
            self._replace_all(writes, f"{BULK_SETTINGS}SET memory_limit = '{bound}'")
        except WarehouseError as error:
            if not _NO_MEMORY.search(str(error)):
                raise
            self._replace_all(writes, BULK_SETTINGS)

    @contextmanager
    def _upgrade_errors(self) -> Iterator[None]:
        """Translate DuckDB's errors in the block, which checks or upgrades, to WarehouseError."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            if unusable := self._unusable(error):
                raise unusable from error
            raise self._not_upgraded(str(error).splitlines()[0]) from error
