"""The warehouse on a lake: the same tables, read and replaced by processes of many machines at once.

What belongs here: transactions. A write holds the locks of its tables, compares its rows with the keys
and checks that `sql/` declares (`lake_rules.py`), and begins anew, a bounded number of times, when
DuckLake finds a conflict or its catalogue did not answer. Opening the lake is `lake_file.py`; merging
its files and ending its snapshots is `lake_upkeep.py`.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from methods.ids import canonical_json
from methods.json_text import from_json
from resources.duckdb_file import quoted
from resources.files import home
from resources.lake_file import (
    LakeAddress,
    LakeError,
    LakeLost,
    attach,
    attached,
    catalogue_exists,
    explained,
    load_extensions,
    locked,
)
from resources.lake_rules import run_script, verify
from resources.query_check import SEALED
from resources.warehouse import (
    NO_TABLES,
    ArrowStream,
    Parquet,
    Warehouse,
    WarehouseError,
    Write,
    replace_rows,
    show,
)
from resources.warehouse_schema import (
    bring_up_to_date,
    declared_tables,
    sql_text,
    upgrade_steps,
)

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_LOG = logging.getLogger(__name__)
ATTEMPTS, LONGEST_PAUSE = 8, 3.0
"""Times that a write is tried, and seconds between two of them at most."""
RELEASES = "release.releases"
_CONFLICT = "conflict"


class LakeConflict(WarehouseError):
    """Another transaction has changed what this one has read; it may be tried anew."""

    passing = True


class Lake(Warehouse):
    """Reads and replaces tables of a lake; safe among any number of processes of any machines."""

    def __init__(self, address: LakeAddress, log: Callable[[str], None] = _LOG.warning):
        # The home's file is not there; what spills to the disk stands beside it.
        super().__init__(home.warehouse_path(), log)
        self.address = address
        self.n_repeated = 0

    def is_there(self) -> bool:
        """Whether somebody has made the tables. Raises LakeError."""
        return catalogue_exists(self.address)

    def require_kept(self) -> None:
        """A lake is never from before the baseline."""

    def glance(self, name: str, params: Mapping[str, object]) -> "pa.Table":
        """As `read`, for a page: the lake is not made or changed. Raises WarehouseError."""
        import duckdb

        if not self.is_there():
            raise WarehouseError(NO_TABLES)
        try:
            with self._opened() as connection:
                if upgrade_steps(connection, self.address.name)[2]:
                    raise WarehouseError(
                        "The tables are of an earlier version: start vlm-loom ui or any job, which "
                        "brings them up to date."
                    )
                return connection.sql(sql_text(name), params=dict(params)).to_arrow_table()
        except duckdb.Error as error:
            reason = self.address.without_secrets(str(error))
            raise WarehouseError(f"{self.address.name} cannot be read ({reason}).") from error

    def require_upgradable(self) -> None:
        """Raise WarehouseError unless the lake can be brought to this version; it is not changed."""
        with self._opened() as connection, self._explained():
            upgrade_steps(connection, self.address.name)

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """What this thread reads in the block is as it was at one moment, but for what it writes."""
        if hasattr(self._kept, "connection"):
            yield
            return
        with self._connection() as connection:
            connection.begin()
            self._kept.connection = connection
            try:
                yield
            finally:
                del self._kept.connection
                _roll_back(connection)

    @contextmanager
    def _at_one_moment(self, connection: "duckdb.DuckDBPyConnection") -> Iterator[None]:
        if hasattr(self._kept, "connection"):
            yield
            return
        with super()._at_one_moment(connection):
            yield

    def _replace_all(self, writes: Sequence[Write], settings: str | None) -> None:
        """The transaction, begun anew when it met another one."""
        repeated = Retrying(
            retry=retry_if_exception_type((LakeConflict, LakeLost)),
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_random_exponential(0.05, LONGEST_PAUSE),
            before_sleep=self._say_repeated,
            reraise=True,
        )
        repeated(self._replace_once, writes, settings)
        kept = getattr(self._kept, "connection", None)
        if kept is not None:
            _roll_back(kept)
            kept.begin()

    def _say_repeated(self, state: RetryCallState) -> None:
        self.n_repeated += 1
        why = state.outcome.exception() if state.outcome else None
        self._log(f"A write is tried again ({state.attempt_number} of {ATTEMPTS}): {why}")

    def _replace_once(self, writes: Sequence[Write], settings: str | None) -> None:
        import duckdb

        tables = sorted({write.table for write in writes})
        with (
            self.transactions(settings) as connection,
            locked(self.address, tables, self._log) as require_held,
        ):
            connection.begin()
            try:
                for write in writes:
                    replace_rows(connection, write, _verify)
                _sign(connection, writes)
                require_held()
                connection.commit()
            except BaseException as error:
                _roll_back(connection)
                if isinstance(error, duckdb.Error):
                    raise self._refused(error) from error
                raise

    @contextmanager
    def transactions(self, settings: str | None = None) -> Iterator["duckdb.DuckDBPyConnection"]:
        """A connection that is in no transaction, with settings of a whole instance."""
        if not self._ready:
            self.check()
        with self._opened(own_instance=settings is not None) as connection:
            if settings is not None:
                connection.execute(settings)
            yield connection

    def _refused(self, error: "duckdb.Error") -> Exception:
        import duckdb

        found = explained(self.address, error)
        if isinstance(found, LakeError):
            return found
        text = self.address.without_secrets(str(error))
        if isinstance(error, duckdb.TransactionException) and _CONFLICT in text:
            return LakeConflict(
                f"Another process changed the same tables of {self.address.name} at the same time "
                f"({text}): run again."
            )
        return WarehouseError(f"The warehouse refused the write: {error}")

    def snapshots_of_releases(self) -> dict[str, int]:
        """Release -> the number of the first snapshot that has it."""
        rows = self.sql(sql_text("snapshots_of_releases"))
        snapshots: dict[str, int] = {}
        for snapshot_id, extra in zip(*rows.to_pydict().values(), strict=True):
            for release_id in from_json(extra)["releases"]:
                snapshots.setdefault(release_id, snapshot_id)
        return snapshots

    def fill(self, folder: Path) -> int:
        """Make the tables those that `write_parquet` wrote; returns the number of rows, all compared.

        Who was interrupted goes on where the tables differ. Raises LakeError where a table has rows of
        its own.
        """
        files = {table: folder / f"{table}.parquet" for table in declared_tables()}
        n_rows = {table: _n_rows(path) for table, path in files.items()}
        for table, n in self._n_rows_of(files).items():
            if n and self._n_missing(f"FROM {table}", _rows_of(files[table])):
                raise LakeError(
                    f"{table} of {self.address.name} has rows of its own: name a lake in "
                    "LOOM_WAREHOUSE that nothing has used, to bring a home there."
                )
        # Tables without rows are most of them, and cost as much to compare as others.
        filled = {table: path for table, path in files.items() if n_rows[table]}
        for table, path in filled.items():
            if self._n_missing(_rows_of(path), f"FROM {table}"):
                self.replace_all([Write(table, Parquet([path]), {})])
        for table, n in self._n_rows_of(files).items():
            left = self._n_missing(_rows_of(files[table]), f"FROM {table}") if n_rows[table] else 0
            if left or n != n_rows[table]:
                raise LakeError(
                    f"{table} of {self.address.name} differs from the home's in {left} rows: stop what "
                    "writes there, and bring the home over again."
                )
        return sum(n_rows.values())

    def _n_rows_of(self, tables: Iterable[str]) -> dict[str, int]:
        """How many rows each table has, all at one moment."""
        counts = " UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in tables)
        found = self.sql(f"SELECT * FROM ({counts}) AS counts(name, n)")
        return dict(zip(found["name"].to_pylist(), found["n"].to_pylist(), strict=True))

    def _n_missing(self, these: str, those: str) -> int:
        """How many of these rows are not among those, each as often as it is there."""
        found = self.sql(f"SELECT count(*) AS n FROM (({these}) EXCEPT ALL ({those}))")
        return int(found["n"][0].as_py())

    def copy_to(self, target: Path) -> None:
        """Copy the tables, as they are at one moment, to a new file of DuckDB."""
        import duckdb

        with self._connection() as connection:
            connection.execute(f"ATTACH {quoted(str(target))} AS copy; USE copy")
            try:
                bring_up_to_date(connection, target)
                connection.begin()
                for table in declared_tables():
                    connection.execute(
                        f"INSERT INTO {table} BY NAME SELECT * FROM warehouse.{table}"
                    )
                connection.commit()
            except duckdb.Error:
                _roll_back(connection)
                raise
            finally:
                connection.execute("USE warehouse; DETACH copy")

    @contextmanager
    def _opened(
        self, own_instance: bool = False, rows_at_once: int | None = None
    ) -> Iterator["duckdb.DuckDBPyConnection"]:
        with attached(self.address, self._log, own_instance=own_instance) as connection:
            yield connection

    def _bring_up_to_date(self, connection: "duckdb.DuckDBPyConnection") -> None:
        with locked(self.address, ["version"], self._log):
            try:
                bring_up_to_date(connection, self.address.name, run_script)
            except BaseException:
                _roll_back(connection)
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            if isinstance(found := explained(self.address, error), LakeError):
                raise found from error
            reason = self.address.without_secrets(str(error).splitlines()[0])
            raise WarehouseError(
                f"{self.address.name} cannot be brought to this version of sql/ ({reason}): open it "
                "with the version of vlm-loom that made it."
            ) from error

    def _names_damage(self, reason: str) -> bool:
        return False


def _rows_of(path: Path) -> str:
    return f"FROM read_parquet({quoted(str(path))})"


def _n_rows(path: Path) -> int:
    """The number of rows of a Parquet file."""
    import pyarrow.parquet as pq

    return int(pq.read_metadata(path).num_rows)


def _verify(connection: "duckdb.DuckDBPyConnection", write: Write) -> None:
    def again() -> None:
        if isinstance(write.rows, ArrowStream):
            show(connection, write)

    verify(connection, write.table, again, [*write.partition])
    again()


def _sign(connection: "duckdb.DuckDBPyConnection", writes: Sequence[Write]) -> None:
    """Say in the snapshot which tables were written, and which releases, which it is kept for."""
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

    with suppress(duckdb.Error):
        connection.rollback()


@contextmanager
def read_at(
    address: LakeAddress, moment: str | None, log: Callable[[str], None] = _LOG.warning
) -> Iterator["duckdb.DuckDBPyConnection"]:
    """A connection that only reads: now, or as of a snapshot's number or a time (UTC).

    It reaches no other files. Raises LakeError.
    """
    import duckdb

    if not catalogue_exists(address):
        raise LakeError(NO_TABLES)
    connection = duckdb.connect(config={"temp_directory": f"{home.warehouse_path()}.tmp"})
    try:
        load_extensions(connection, address)
        connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        options = ["READ_ONLY"]
        if moment is not None:
            kind = "SNAPSHOT_VERSION" if moment.isdecimal() else "SNAPSHOT_TIME"
            options.append(f"{kind} {moment if moment.isdecimal() else quoted(moment)}")
        try:
            attach(connection, address, *options)
        except duckdb.Error as error:
            reason = address.without_secrets(str(error).splitlines()[0])
            raise LakeError(
                f"{address.name} cannot be read as of {moment} ({reason}): give a time such as "
                "'2026-01-31 12:00', or a number of FROM ducklake_snapshots('warehouse')."
            ) from error
        connection.execute(
            f"USE warehouse; SET allowed_directories = [{quoted(address.files)}]; {SEALED}"
        )
        yield connection
    finally:
        connection.close()
