"""The warehouse on a lake: transactions of processes on many machines, with locks and retries.

A write holds the locks of its tables, and checks its rows against the keys and checks that `sql/`
declares (`staging.py`). Reads and writes are retried up to `ATTEMPTS` times if DuckLake finds a
conflict or the catalogue does not answer. `lake_connection.py` opens the lake.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from methods.ids import canonical_json
from resources.files import home
from resources.warehouse.database import EARLIER_VERSION, NO_TABLES, Database, Result
from resources.warehouse.declarations import WarehouseError, declared_tables
from resources.warehouse.duckdb_file import quoted
from resources.warehouse.lake_connection import (
    LakeAddress,
    LakeError,
    LakeLost,
    attached,
    catalogue_exists,
    lake_error,
    locked,
)
from resources.warehouse.staging import run_on_lake
from resources.warehouse.versions import bring_up_to_date, upgrade_steps
from resources.warehouse.writes import TableWrite, replace_rows

if TYPE_CHECKING:
    import duckdb

ATTEMPTS, LONGEST_PAUSE = 8, 3.0
"""Maximum number of attempts of a transaction, and maximum seconds between two attempts."""
RELEASES = "release.releases"
_CONFLICT = "conflict"


class LakeConflict(WarehouseError):
    """Another transaction changed the same tables; a retry may succeed."""

    passing = True


class LakeDatabase(Database):
    """Transactions on a lake; safe among processes on any number of machines."""

    def __init__(self, address: LakeAddress, log: Callable[[str], None]):
        super().__init__(log)
        self.address = address
        self.n_repeated = 0

    @property
    def name(self) -> str:
        return self.address.name

    def exists(self) -> bool:
        """Whether the lake has a catalogue. Raises LakeError."""
        return catalogue_exists(self.address)

    @contextmanager
    def _opened(
        self, own_instance: bool, rows_at_once: int | None
    ) -> "Iterator[duckdb.DuckDBPyConnection]":
        """Open a connection to the lake, which is created if it does not exist; see `Database`.

        `rows_at_once` is not used for a lake.
        """
        # DuckDB spills data that does not fit into memory to the workspace.
        home.home().mkdir(parents=True, exist_ok=True)
        with attached(self.address, self.log, own_instance=own_instance) as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> "Iterator[duckdb.DuckDBPyConnection]":
        import duckdb

        if not self.exists():
            raise WarehouseError(NO_TABLES)
        try:
            with self.opened() as connection:
                if upgrade_steps(connection, self.name)[2]:
                    raise WarehouseError(EARLIER_VERSION)
                yield connection
        except duckdb.Error as error:
            reason = self.address.without_secrets(str(error))
            raise WarehouseError(f"{self.name} cannot be read ({reason}).") from error

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep one connection in one transaction: all reads see one snapshot, and own writes."""
        if hasattr(self._kept, "connection"):
            yield
            return
        with self.connection() as connection:
            connection.begin()
            self._kept.connection = connection
            try:
                yield
            finally:
                del self._kept.connection
                _roll_back(connection)

    @contextmanager
    def at_one_moment(self, connection: "duckdb.DuckDBPyConnection") -> Iterator[None]:
        if hasattr(self._kept, "connection"):
            yield
            return
        with super().at_one_moment(connection):
            yield

    def reading(self, query: Callable[[], Result]) -> Result:
        """Run a read; repeat it if its connection was lost, unless it was that of `kept_open`."""
        if hasattr(self._kept, "connection"):
            return query()
        return self._repeated(query)

    def _repeated(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run a transaction; retry it after a conflict or a lost connection."""
        repeated = Retrying(
            retry=retry_if_exception_type((LakeConflict, LakeLost)),
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_random_exponential(0.05, LONGEST_PAUSE),
            before_sleep=self._say_repeated,
            reraise=True,
        )
        return repeated(work, *arguments)

    def _replace_all(self, writes: Sequence[TableWrite], settings: str | None) -> None:
        self._repeated(self._replace_once, writes, settings)
        open_connection = getattr(self._kept, "connection", None)
        if open_connection is not None:
            _roll_back(open_connection)
            open_connection.begin()

    def _say_repeated(self, state: RetryCallState) -> None:
        self.n_repeated += 1
        why = state.outcome.exception() if state.outcome else None
        self.log(f"A transaction is tried again ({state.attempt_number} of {ATTEMPTS}): {why}")

    def _replace_once(self, writes: Sequence[TableWrite], settings: str | None) -> None:
        import duckdb

        tables = sorted({write.table for write in writes})
        with (
            self.transactions(settings) as connection,
            locked(self.address, tables, self.log) as require_held,
        ):
            connection.begin()
            try:
                for write in writes:
                    replace_rows(connection, write, without_rules=True)
                _sign(connection, writes)
                require_held()
                connection.commit()
            except BaseException as error:
                _roll_back(connection)
                if isinstance(error, duckdb.Error):
                    raise self._refused(error) from error
                raise

    @contextmanager
    def transactions(self, settings: str | None = None) -> "Iterator[duckdb.DuckDBPyConnection]":
        """Open a connection outside any transaction; with settings, in its own DuckDB instance."""
        if not self._ready:
            self.check()
        with self.opened(own_instance=settings is not None) as connection:
            if settings is not None:
                connection.execute(settings)
            yield connection

    def _refused(self, error: "duckdb.Error") -> Exception:
        import duckdb

        explanation = lake_error(self.address, error)
        if isinstance(explanation, LakeError):
            return explanation
        text = self.address.without_secrets(str(error))
        if isinstance(error, duckdb.TransactionException) and _CONFLICT in text:
            return LakeConflict(
                f"Another process changed the same tables of {self.address.name} at the same time "
                f"({text}): run again."
            )
        return WarehouseError(f"The warehouse refused the write: {error}")

    def copy_to(self, target: Path) -> None:
        with self.connection() as connection:
            connection.execute(f"ATTACH {quoted(str(target))} AS copy; USE copy")
            try:
                bring_up_to_date(connection, target)
                connection.begin()
                for table in declared_tables():
                    connection.execute(
                        f"INSERT INTO {table} BY NAME SELECT * FROM warehouse.{table}"
                    )
                connection.commit()
            except BaseException:
                _roll_back(connection)
                raise
            finally:
                connection.execute("USE warehouse; DETACH copy")

    def _bring_up_to_date(self, connection: "duckdb.DuckDBPyConnection") -> None:
        with locked(self.address, ["version"], self.log):
            try:
                bring_up_to_date(connection, self.name, run_on_lake)
            except BaseException:
                _roll_back(connection)
                raise

    def _unusable(self, error: "duckdb.Error") -> WarehouseError | None:
        explanation = lake_error(self.address, error)
        return explanation if isinstance(explanation, LakeError) else None

    def _not_upgraded(self, reason: str) -> WarehouseError:
        return WarehouseError(
            f"{self.name} cannot be brought to this version of sql/ "
            f"({self.address.without_secrets(reason)}): open it with the version of vlm-loom that made "
            "it."
        )


def _sign(connection: "duckdb.DuckDBPyConnection", writes: Sequence[TableWrite]) -> None:
    """Record written tables and releases in the snapshot; maintenance keeps snapshots of releases."""
    import pyarrow as pa

    releases = [
        release_id
        for write in writes
        if write.table == RELEASES and isinstance(write.rows, pa.Table)
        for release_id in write.rows["release_id"].to_pylist()
    ]
    tables = ", ".join(sorted({write.table for write in writes}))
    extra = f", extra_info => {quoted(canonical_json({'releases': releases}))}" if releases else ""
    connection.execute(
        f"CALL ducklake_set_commit_message('warehouse', 'vlm-loom', {quoted(tables)}{extra})"
    )


def _roll_back(connection: "duckdb.DuckDBPyConnection") -> None:
    import duckdb

    # A query that an interrupt left to go on would be waited for.
    connection.interrupt()
    with suppress(duckdb.Error):
        connection.rollback()
