"""A database with the tables: its connections, its version, and transactions that replace rows.

`file_database.py` is a DuckDB file, `lake_database.py` a lake. No database is held while anything else
happens: each call, or each block of reads (`kept_open`), opens it, runs one transaction and closes it.
"""

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from resources.warehouse.declarations import WarehouseError
from resources.warehouse.versions import upgrade_steps
from resources.warehouse.writes import BULK_SETTINGS, TableWrite, memory_bound

if TYPE_CHECKING:
    import duckdb

NO_TABLES = "There are no tables yet: run vlm-loom demo or a job first."
EARLIER_VERSION = (
    "The tables are of an earlier version: start vlm-loom ui or any job, which brings them up to "
    "date."
)
_NO_MEMORY = re.compile(r"/[\d.]+ \w+ used\)")


@contextmanager
def raise_interrupts() -> Iterator[None]:
    """Raise the interrupt that ended a query in the block.

    Where a handler of SIGINT raises during a query, DuckDB raises RuntimeError, with what the handler
    raised as its cause. A step that fails with a RuntimeError does not end its run.
    """
    try:
        yield
    except RuntimeError as error:
        interrupt = error.__cause__
        if interrupt is None or isinstance(interrupt, Exception):
            raise
        raise interrupt from None


class Database(ABC):
    """Connections to one database; safe among any number of threads and processes."""

    def __init__(self, log: Callable[[str], None]):
        self.log = log
        self._ready = False
        self._kept = threading.local()

    @property
    @abstractmethod
    def name(self) -> str:
        """The database in a sentence."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether the tables were created."""

    @abstractmethod
    def opened(
        self, own_instance: bool = False, rows_at_once: int | None = None
    ) -> "AbstractContextManager[duckdb.DuckDBPyConnection]":
        """A connection to the database, whatever its version.

        Args:
            own_instance: Make an instance of DuckDB for it, for settings of a whole instance.
            rows_at_once: The size of a row group; None for DuckDB's own.
        """

    @abstractmethod
    def snapshot(self) -> "AbstractContextManager[duckdb.DuckDBPyConnection]":
        """Open a read-only connection that changes nothing and does not wait long.

        Raises:
            WarehouseError: There are no tables of this version, or they cannot be read now.
        """

    @abstractmethod
    def copy_to(self, target: Path) -> None:
        """Copy the tables, as they are at one moment, to a new file of DuckDB."""

    @abstractmethod
    def _bring_up_to_date(self, connection: "duckdb.DuckDBPyConnection") -> None: ...

    @abstractmethod
    def _replace_all(self, writes: Sequence[TableWrite], settings: str | None) -> None: ...

    @abstractmethod
    def _unusable(self, error: "duckdb.Error") -> WarehouseError | None:
        """The sentence for an error that is the database's and not the query's."""

    @abstractmethod
    def _not_upgraded(self, reason: str) -> WarehouseError: ...

    def check(self) -> None:
        """Bring the tables to this version now, not at the first use. Raises WarehouseError."""
        with self.connection():
            pass

    def require_upgradable(self) -> None:
        """Raise WarehouseError unless the tables can be brought to this version; nothing is changed."""
        with self.opened() as connection, self._upgrade_errors():
            upgrade_steps(connection, self.name)

    @contextmanager
    def connection(
        self, *, own_instance: bool = False, rows_at_once: int | None = None
    ) -> "Iterator[duckdb.DuckDBPyConnection]":
        """Open a connection to tables of this version, or return the one that the thread keeps open.

        Args:
            own_instance: Whether the connection has its own DuckDB instance.
            rows_at_once: DuckDB's row group size; None for its default.
        """
        import duckdb

        # DuckDB imports pandas at its first query. It drops an interrupt that comes meanwhile, and the
        # import lock stays locked for all threads.
        import pandas  # noqa: F401

        if (open_connection := getattr(self._kept, "connection", None)) is not None:
            yield open_connection
            return
        with raise_interrupts(), self.opened(own_instance, rows_at_once) as connection:
            # Once a process: no other version of the code writes the tables while this one runs.
            if not self._ready:
                with self._upgrade_errors():
                    self._bring_up_to_date(connection)
                self._ready = True
            try:
                yield connection
            except duckdb.Error as error:
                # A file that was cut short is noticed where it is read.
                if unusable := self._unusable(error):
                    raise unusable from error
                raise

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep one connection for all that this thread reads in the block.

        Opening takes longer than reading few rows. Nobody else opens a file meanwhile: work that takes
        long is done outside the block.
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
        """Read the tables as they are at one moment in the block."""
        connection.begin()
        yield
        connection.commit()

    def replace_all(self, writes: Sequence[TableWrite]) -> None:
        """Do the writes as one transaction: all are seen, or none. Raises WarehouseError."""
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
        """Raise WarehouseError for what DuckDB refuses while the version is looked at."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            if unusable := self._unusable(error):
                raise unusable from error
            raise self._not_upgraded(str(error).splitlines()[0]) from error
