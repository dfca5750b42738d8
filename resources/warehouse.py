"""The DuckDB warehouse: reads and replaces tables of one file.

DuckDB lets one process open a file for writing and fails every other open meanwhile. So no file is
ever held open while anything else happens: each call, or each block of reads (`kept_open`), takes an
inter-process lock, attaches the file (`duckdb_file.py`), runs one transaction and detaches it; a run
whose next transaction begins at once still has both. What belongs here: that discipline. What does
not: SQL text (it stands in `sql/`), what any table means, and the version of a file
(`warehouse_schema.py`).
"""

import logging
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from filelock import FileLock, Timeout

from methods.ids import content_id
from resources.duckdb_file import OpenFile, attached, left_open, quoted
from resources.duckdb_versions import another_version
from resources.files.home import is_writable
from resources.files.waiting import Waiting
from resources.warehouse_reads import Reads
from resources.warehouse_schema import (
    SQL_ROOT,
    STAGES,
    Columns,
    WarehouseError,
    arrow_schema,
    bring_up_to_date,
    column_descriptions,
    columns_of,
    declared_columns,
    declared_tables,
    later_version,
    sql_files,
    sql_text,
    upgrade_steps,
)

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = [
    "SQL_ROOT",
    "STAGES",
    "ArrowStream",
    "Parquet",
    "Warehouse",
    "WarehouseError",
    "Write",
    "arrow_schema",
    "column_descriptions",
    "declared_columns",
    "sql_files",
    "sql_text",
]

T = TypeVar("T")

LOCK_TIMEOUT = OPEN_TIMEOUT = 12 * 3600.0
"""Seconds to wait for the other processes, and for who opened the file without our lock. Most
transactions take milliseconds; taking in a shard of millions of rows takes a minute, and several may be
waiting. A person may be at a DuckDB prompt for a night, and no run fails because of it."""
SAID_AFTER, SAID_EVERY = 5.0, 300.0
"""Seconds after which a wait is said, and after which it is said again."""
NO_TABLES = "There are no tables yet: run vlm-loom demo or a job first."
_LOCKED = "Could not set lock on file"
_HOLDER = re.compile(r"held in (?P<program>.+) \(PID (?P<pid>\d+)\)")
_DENIED = "Cannot open file"
_FULL = "No space left on device"
_LOG_KEPT = "CHECKPOINT during DETACH failed"
"""Transactions are committed, but the file does not take them out of its log: the disk is full."""
_NO_MEMORY = re.compile(r"/[\d.]+ \w+ used\)")
_EARLIER = (
    "The tables are of an earlier version: start vlm-loom ui or any job, which brings them up to "
    "date."
)
_IN_USE = "The tables are being written at the moment: look again when the run has gone on."
_CORRUPT = "Corrupt database file"
_DAMAGED = (
    _CORRUPT,
    "is not a valid DuckDB database file",
    "Could not read enough bytes from file",
)
_OTHER_DUCKDB = "Trying to read a database file with version number"
"""DuckDB has one class of error for all that can be wrong with a file; its words tell them apart."""
_FINGERPRINT = "count(*) AS n, sum(hash(r)) AS sum"
_PARAMETER = re.compile(r"\$([a-z_]+)")
_TERM = re.compile(r"(\w+)( DESC)?(?=, |$)")
GLANCE_TIMEOUT = 2.0
"""Seconds that who only looks waits for who writes."""
BULK_SETTINGS = """
    PRAGMA force_compression = 'uncompressed';
    SET threads = 1;
"""
"""For taking in files. Choosing the tightest form for every column takes three times as long as writing
the rows. DuckDB takes rows in one after the other: a second thread copies them once more."""
FILES_MEMORY, STREAM_MEMORY, STREAM_ROWS = "300MB", "64MB", 10_240
"""Bounds on DuckDB's memory while it takes in files; without one the rows wait in memory for the
commit. A stream is written so many rows at a time, of up to 6 KB: DuckDB's own 122,880 would need more
than all else that reads a shard. With a primary key fewer rows at a time take longer, and its index
more memory. What does not fit, such as many texts of over 256 KB, is written again without a bound."""
PORTION_SETTINGS = "SET memory_limit = '300MB'; SET threads = 1"
"""For reading a portion after the other: without a bound the whole file comes to be in memory."""

Partition = Mapping[str, str | Sequence[str]]
"""Which rows a write replaces: column to value, or to several values; empty for the whole table."""


class Parquet(NamedTuple):
    """Rows staged in files, too many for memory.

    The files may have more columns than the table, and not all of them every column.
    """

    paths: Sequence[Path]


class ArrowStream(NamedTuple):
    """Rows staged in a file in Arrow's streaming format, with all columns, too many for memory."""

    path: Path

    def opened(self) -> "pa.RecordBatchReader":
        """The rows, to be read once.

        The file is mapped: of columns that nobody looks at nothing is read, and the system takes back
        what was read. DuckDB keeps about half of the rows until it has all of them.
        """
        import pyarrow as pa

        return pa.ipc.open_stream(pa.memory_map(str(self.path)))


class Write(NamedTuple):
    """One table's new rows and the partition of it that they replace."""

    table: str
    rows: "pa.Table | Parquet | ArrowStream"
    partition: Partition


_LOG = logging.getLogger(__name__)


class Warehouse:
    """Reads and replaces tables of one DuckDB file; safe among any number of processes.

    `log` is told, in a line, for whom a call waits.
    """

    def __init__(self, path: Path | str, log: Callable[[str], None] = _LOG.warning):
        self.path = Path(path)
        self._log = log
        self._ready = False
        self._kept = threading.local()
        self._reads: list[Reads] = []
        self._fingerprints: dict[str, dict[bool, dict[str, str]]] = {}
        self._made: dict[tuple[str, str], tuple[tuple[str | None, ...], object]] = {}

    def is_there(self) -> bool:
        """Whether somebody has made the tables."""
        return self.path.exists()

    def check(self) -> None:
        """Bring the file to this version now, not at the first use. Raises WarehouseError."""
        with self._connection():
            pass

    def require_upgradable(self) -> None:
        """Raise WarehouseError unless the file can be brought to this version; it is not changed."""
        with self._opened() as connection, self._explained():
            upgrade_steps(connection, self.path)

    def require_kept(self) -> None:
        """Raise StoreError where the file, which nobody uses, is from before the baseline.

        One that is not there or is damaged is none of those.
        """
        import duckdb

        if self.path.exists():
            with suppress(duckdb.Error), duckdb.connect(str(self.path), read_only=True) as opened:
                later_version(opened, self.path)

    def read(self, name: str, params: Mapping[str, object] | None = None) -> "pa.Table":
        """Result of the query in `sql/<name>.sql`, with its named `$parameters` bound."""
        self._record(name, params)
        return self.sql(sql_text(name), params)

    def read_portion(self, name: str, params: Mapping[str, object]) -> "pa.Table":
        """As `read`, of a portion of tables of any size: what was read of the file is not kept."""
        self._record(name, params)
        with self._connection(own_instance=True) as connection:
            connection.execute(PORTION_SETTINGS)
            return connection.sql(sql_text(name), params=dict(params)).to_arrow_table()

    def read_rows(
        self, query: str, names: Sequence[str], params: Mapping[str, object]
    ) -> dict[str, list[dict[str, Any]]]:
        """Rows of `sql/<query>.sql` for each of `names` in the place of its `{}`, by name.

        All are read at one moment, and each query is bound those of `params` that it names. Opening the
        file takes longer than reading few rows: what belongs together is read at once.
        """
        rows = {}
        for name in names:
            of = query.format(name)
            named = set(_PARAMETER.findall(sql_text(of)))
            self._record(of, {key: params[key] for key in params if key in named})
        with self._connection() as connection, self._at_one_moment(connection):
            for name in names:
                (statement,) = connection.extract_statements(sql_text(query.format(name)))
                bound = {key: params[key] for key in statement.named_parameters}
                rows[name] = connection.sql(statement, params=bound).to_arrow_table().to_pylist()
        return rows

    def glance(self, name: str, params: Mapping[str, object]) -> "pa.Table":
        """As `read`, for a page: the file is not made or changed, and nobody is waited for long.

        Raises WarehouseError, one sentence, where the file is missing, in use, of another version or
        damaged.
        """
        import duckdb

        if not self.path.exists():
            raise WarehouseError(NO_TABLES)
        try:
            lock = FileLock(f"{self.path}.lock", timeout=GLANCE_TIMEOUT, poll_interval=0.01)
            with (
                lock if is_writable(self.path) else nullcontext(),
                closing(duckdb.connect(str(self.path), read_only=True)) as connection,
            ):
                if upgrade_steps(connection, self.path)[2]:
                    raise WarehouseError(_EARLIER)
                return connection.sql(sql_text(name), params=dict(params)).to_arrow_table()
        except Timeout:
            raise WarehouseError(_IN_USE, passing=True) from None
        except (OSError, duckdb.Error) as error:
            reason = (str(error).splitlines() or [""])[0]
            if _LOCKED in reason or isinstance(error, duckdb.ConnectionException):
                raise WarehouseError(_IN_USE, passing=True) from error
            raise WarehouseError(f"{self.path} {_advice(reason, self.path)}") from error

    def export(self, name: str, params: Mapping[str, object], path: Path) -> Path:
        """Write the result of `sql/<name>.sql` to a Parquet file, whatever its size."""
        query = sql_text(name).rstrip().removesuffix(";")
        self._record(name, params)
        with self._connection() as connection:
            # Not by the query's relation: with parameters that one holds its result in memory.
            connection.execute(
                f"COPY ({query}\n) TO $to_path (FORMAT parquet, COMPRESSION uncompressed)",
                {**params, "to_path": str(path)},
            )
        return path

    def sql(self, text: str, params: Mapping[str, object] | None = None) -> "pa.Table":
        """Result of one SELECT, for tests and for people at a prompt; assets use `read`."""
        with self._connection() as connection:
            return connection.sql(text, params=dict(params or {})).to_arrow_table()

    def select(
        self,
        table: str,
        *columns: str,
        order: str = "",
        distinct: bool = False,
        **equal: int | str | Sequence[str],
    ) -> "pa.Table":
        """Columns of the rows of one table or view whose columns have the values `equal`.

        Without `columns` all; a sequence means any of its values. `order` is as in SQL: columns, each
        with `DESC` if the other way round, or `ALL`. What joins or computes is a file in `sql/`.
        """
        terms = _TERM.findall(order)
        if order != ", ".join(name + how for name, how in terms):
            raise WarehouseError(f"{order!r} is no order of columns.")
        known = {"ALL", *(name for name, *_ in declared_columns().get(table, []))}
        if missing := sorted({*columns, *equal, *(name for name, _ in terms)} - known):
            raise WarehouseError(f"{table} has no column {', '.join(missing)} in sql/.")
        what = ", ".join(f'"{name}"' for name in columns) or "*"
        by = ", ".join(name if name == "ALL" else f'"{name}"{how}' for name, how in terms)
        then = f"ORDER BY {by}" if by else ""
        self._record(table, equal)
        return self._select(f"DISTINCT {what}" if distinct else what, table, equal, then)

    def count(self, table: str, partition: Partition | None = None) -> int:
        """Number of rows in a table or view that `sql/` declares, or of those of `partition` alone."""
        self._record(table, partition)
        ((n_rows,),) = self._select("count(*)", table, partition).to_pydict().values()
        return int(n_rows)

    def first_rows(self, table: str, partition: Partition, n_rows: int) -> "pa.Table":
        """Some rows of the partition of a table."""
        self._record(table, partition)
        return self._select("*", table, partition, f"LIMIT {n_rows}")

    def fingerprint(self, table: str, partition: Partition | None = None) -> str:
        """A hash of the rows of a table or view, in any order, or of those of `partition` alone."""
        # A sum does not depend on the order, and keeps what an exclusive or would cancel.
        figures = self._select(_FINGERPRINT, table, partition)
        return content_id(*(str(column[0]) for column in figures.to_pydict().values()))

    def known_fingerprints(self, table: str, *, by_release: bool = False) -> dict[str, str]:
        """The same of the table, by "", or of each release's rows of it, by the release's id.

        They are as this object first found them after it last wrote the table.
        """
        known = self._fingerprints.setdefault(table, {})
        if by_release not in known:
            of = "release_id" if by_release else "'' AS release_id"
            rows = self._select(f"{of}, {_FINGERPRINT}", table, {}, "GROUP BY ALL").to_pylist()
            known[by_release] = {
                row["release_id"]: content_id(str(row["n"]), str(row["sum"])) for row in rows
            }
        return known[by_release]

    def fingerprint_of_query(self, name: str, params: Mapping[str, object]) -> str:
        """The same of the result of the query in `sql/<name>.sql`."""
        query = sql_text(name).rstrip().removesuffix(";")
        figures = self.sql(f"SELECT {_FINGERPRINT} FROM (\n{query}\n) AS r", params)
        return content_id(*(str(column[0]) for column in figures.to_pydict().values()))

    @contextmanager
    def recorded(self) -> Iterator[Reads]:
        """What is read and written by this object in the block, whichever thread does it."""
        reads = Reads(self)
        self._reads.append(reads)
        try:
            yield reads
        finally:
            self._reads.remove(reads)

    @contextmanager
    def not_recorded(self) -> Iterator[None]:
        """What is read in the block is not what a step is made of: another step shows it again."""
        recording, self._reads = self._reads, []
        try:
            yield
        finally:
            self._reads = recording

    def while_unchanged(
        self,
        tables: Sequence[str],
        release_id: str,
        make: Callable[[], T],
        kept: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """What `make` makes of the rows that these tables have of a release.

        It is made once for as long as they have the same rows: small things, which several steps of a
        run need and none changes. One that is not to be `kept` is made each time.
        """
        rows = tuple(
            self.known_fingerprints(table, by_release=True).get(release_id) for table in tables
        )
        for table in tables:
            self._record(table, {"release_id": release_id})
        key = make.__qualname__, release_id
        if key in self._made and self._made[key][0] == rows:
            return cast(T, self._made[key][1])
        made = make()
        if kept(made):
            self._made[key] = rows, made
        return made

    def _record(self, source: str, values: Mapping[str, object] | None) -> None:
        for reads in self._reads:
            reads.add(source, values or {})

    def _select(
        self,
        what: str,
        table: str,
        equal: Mapping[str, int | str | Sequence[str]] | None,
        then: str = "",
    ) -> "pa.Table":
        if table not in declared_columns():
            raise WarehouseError(f"There is no table {table} in sql/.")
        where, values = _where(equal or {})
        with self._connection() as connection:
            query = f"SELECT {what} FROM {table} AS r WHERE {where} {then}"
            return connection.sql(query, params=values).to_arrow_table()

    def replace(self, table: str, rows: "pa.Table", partition: Partition | None = None) -> int:
        """Put `rows` in the place of the partition's rows, in one transaction; returns their number.

        Doing it twice is doing it once. Raises WarehouseError when a row breaks the table's rules.
        """
        self.replace_all([Write(table, rows, partition or {})])
        return rows.num_rows

    def replace_all(self, writes: Sequence[Write]) -> None:
        """Several replacements as one transaction: all are seen, or none."""
        for write in writes:
            self._fingerprints.pop(write.table, None)
            for reads in self._reads:
                reads.wrote(write.table)
        bound = None
        if any(isinstance(write.rows, Parquet | ArrowStream) for write in writes):
            bound = FILES_MEMORY
        if any(isinstance(write.rows, ArrowStream) for write in writes):
            bound = STREAM_MEMORY
        try:
            self._replace_all(
                writes, f"{BULK_SETTINGS}SET memory_limit = '{bound}'" if bound else None
            )
        except WarehouseError as error:
            if not bound or not _NO_MEMORY.search(str(error)):
                raise
            self._replace_all(writes, BULK_SETTINGS)

    def _replace_all(self, writes: Sequence[Write], settings: str | None) -> None:
        """The transaction, in an instance of its own with settings that hold for a whole instance."""
        import duckdb

        streamed = any(isinstance(write.rows, ArrowStream) for write in writes)
        rows_at_once = STREAM_ROWS if streamed else None
        with self._connection(
            own_instance=settings is not None, rows_at_once=rows_at_once
        ) as connection:
            if settings is not None:
                connection.execute(settings)
            connection.begin()
            try:
                for write in writes:
                    replace_rows(connection, write)
                connection.commit()
            except duckdb.Error as error:
                # After a full disk there is nothing left to roll back, and saying so would hide why.
                with suppress(duckdb.Error):
                    connection.rollback()
                if _FULL in str(error):
                    reason = " ".join(str(error).split())
                    raise WarehouseError(f"{self.path} {_advice(reason, self.path)}") from error
                raise WarehouseError(f"The warehouse refused the write: {error}") from error

    def snapshots_of_releases(self) -> dict[str, int]:
        """Release -> number of the snapshot that it was frozen in; a file has none."""
        return {}

    def columns(self) -> Columns:
        """Table or view -> [(column, type, nullable)], as the file has it now."""
        with self._connection() as connection:
            return columns_of(connection)

    def copy_to(self, target: Path) -> None:
        """Copy the file as it is between two transactions, whatever its version; it has to be there."""
        left_open.close(self.path)
        # What a killed process left in the log beside the file belongs to it.
        log = Path(f"{self.path}.wal")
        with self._locked():
            with self._attached() as connection:
                if is_writable(self.path):
                    connection.execute("CHECKPOINT")
                elif log.exists():
                    shutil.copyfile(log, f"{target}.wal")
            shutil.copyfile(self.path, target)

    def write_parquet(self, folder: Path) -> int:
        """Write each table as `<schema>.<table>.parquet`, all as they are at one moment; returns the
        number of rows."""
        n_rows = 0
        with self._connection() as connection, self._at_one_moment(connection):
            for table in declared_tables():
                to = quoted(str(folder / f"{table}.parquet"))
                (count,) = connection.execute(f"COPY {table} TO {to} (COMPRESSION zstd)").fetchall()
                n_rows += count[0]
        return n_rows

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Open the file once for all that this thread reads in the block.

        To open it takes longer than to read few rows. Nobody else opens it meanwhile: what takes long
        stands outside.
        """
        if hasattr(self._kept, "connection"):
            yield
            return
        with self._connection() as self._kept.connection:
            try:
                yield
            finally:
                del self._kept.connection

    @contextmanager
    def _connection(
        self, *, own_instance: bool = False, rows_at_once: int | None = None
    ) -> Iterator["duckdb.DuckDBPyConnection"]:
        import duckdb

        if (kept := getattr(self._kept, "connection", None)) is not None:
            yield kept
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._opened(own_instance, rows_at_once) as connection:
            # Once a process: no other version of the code writes the file while this one runs.
            if not self._ready:
                with self._explained():
                    self._bring_up_to_date(connection)
                self._ready = True
            try:
                yield connection
            except duckdb.Error as error:
                reason = str(error).splitlines()[0]
                # A file that was cut short is noticed where it is read.
                if self._names_damage(reason):
                    raise WarehouseError(f"{self.path} {_advice(reason, self.path)}") from error
                raise

    def _bring_up_to_date(self, connection: "duckdb.DuckDBPyConnection") -> None:
        if is_writable(self.path):
            bring_up_to_date(connection, self.path)
        elif upgrade_steps(connection, self.path)[2]:
            raise WarehouseError(_EARLIER)

    @contextmanager
    def _at_one_moment(self, connection: "duckdb.DuckDBPyConnection") -> Iterator[None]:
        """All that is read in the block is as it was at one moment."""
        connection.begin()
        yield
        connection.commit()

    @contextmanager
    def _opened(
        self, own_instance: bool = False, rows_at_once: int | None = None
    ) -> Iterator["duckdb.DuckDBPyConnection"]:
        """The file, locked and attached, or as this run has left it open."""
        if own_instance:
            left_open.close(self.path)
        file = left_open.take(self.path)
        if file is None:
            with ExitStack() as opening:
                with left_open.waiting():
                    opening.enter_context(self._locked())
                connection = opening.enter_context(self._attached(own_instance, rows_at_once))
                file = OpenFile(connection, time.monotonic(), opening.pop_all())
        try:
            yield file.connection
        except BaseException:
            file.closing.close()
            raise
        if own_instance:
            file.closing.close()
        else:
            left_open.leave(self.path, file)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if not is_writable(self.path):
            yield  # DuckDB's own lock keeps writers away while the file is open.
            return
        # Another thread may close what this one has left open.
        lock = FileLock(f"{self.path}.lock", poll_interval=0.01, thread_local=False)
        waiting = Waiting(LOCK_TIMEOUT, self._log, SAID_AFTER, SAID_EVERY)
        while True:
            try:
                lock.acquire(timeout=waiting.seconds_left())
                break
            except Timeout:
                holder = "another process of vlm-loom, which may itself be waiting"
                if not waiting.goes_on(f"{self.path} is in use by {holder}"):
                    raise WarehouseError(
                        f"Another process has held {self.path}.lock for {LOCK_TIMEOUT:.0f} s; "
                        "end it and run again."
                    ) from None
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _attached(
        self, own_instance: bool = False, rows_at_once: int | None = None
    ) -> Iterator["duckdb.DuckDBPyConnection"]:
        import duckdb

        waiting = Waiting(OPEN_TIMEOUT, self._log, SAID_AFTER, SAID_EVERY)
        with self._closing_explained(), ExitStack() as stack:
            while True:
                try:
                    connection = stack.enter_context(
                        attached(self.path, own_instance=own_instance, rows_at_once=rows_at_once)
                    )
                    break
                except duckdb.Error as error:
                    reason = str(error).splitlines()[0]
                    if _LOCKED not in reason:
                        raise WarehouseError(f"{self.path} {_advice(reason, self.path)}") from error
                    who = _HOLDER.search(reason)
                    holder = f"{who['program']} (process {who['pid']})" if who else reason
                    if not waiting.goes_on(
                        f"{self.path} is open in {holder}; close it there, and look at the tables "
                        "with vlm-loom sql, which opens a copy"
                    ):
                        raise WarehouseError(
                            f"{self.path} cannot be opened; close what else has it open ({reason})."
                        ) from error
                    time.sleep(0.2)
            yield connection

    @contextmanager
    def _closing_explained(self) -> Iterator[None]:
        """Raise WarehouseError where the file cannot be closed with all that is committed in it."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            reason = " ".join(str(error).split())
            if _LOG_KEPT not in reason:
                raise
            raise WarehouseError(f"{self.path} {_advice(reason, self.path)}") from error

    def _names_damage(self, reason: str) -> bool:
        return f'from file "{self.path}"' in reason or _CORRUPT in reason

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise WarehouseError for what DuckDB refuses while the file's version is looked at."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            if self._names_damage(reason):
                raise WarehouseError(f"{self.path} {_advice(reason, self.path)}") from error
            raise WarehouseError(
                f"{self.path} cannot be brought to this version of sql/ ({reason}): keep the file, "
                "and open it with the version of vlm-loom that made it, or restore a backup "
                "(vlm-loom home restore)."
            ) from error


def _advice(reason: str, path: Path) -> str:
    """What to do about a file that DuckDB does not open or write, whoever else has it open."""
    if _FULL in reason or _LOG_KEPT in reason:
        return f"cannot be written ({reason}): make room on its disk and run again."
    if _DENIED in reason:
        return f"cannot be opened ({reason}): make it a file that you may read and write."
    if _OTHER_DUCKDB in reason:
        return another_version(path, reason)
    if any(words in reason for words in _DAMAGED):
        return (
            f"is no DuckDB file, or a damaged one ({reason}): restore a backup (vlm-loom home "
            "restore), or, to begin with empty tables, move it and any .wal file next to it into "
            "another folder."
        )
    return (
        f"cannot be opened ({reason}): keep the file; put that right, or restore a backup (vlm-loom "
        "home restore)."
    )


def replace_rows(
    connection: "duckdb.DuckDBPyConnection",
    write: Write,
    verify: Callable[["duckdb.DuckDBPyConnection", Write], None] = lambda *_: None,
) -> None:
    """Do the write in the open transaction; `verify` is asked about the rows before they are added."""
    where, values = _where(write.partition)
    connection.execute(f"DELETE FROM {write.table} WHERE {where}", values)
    if not isinstance(write.rows, Parquet | ArrowStream) and not write.rows.num_rows:
        return
    show(connection, write)
    stray = connection.execute(
        f"SELECT count(*) FROM incoming WHERE NOT ({where})", values
    ).fetchall()[0][0]
    # A row outside the partition would not be replaced the next time, and stand twice.
    if stray:
        raise WarehouseError(
            f"{stray} rows for {write.table} lie outside the partition they replace."
        )
    verify(connection, write)
    if isinstance(write.rows, ArrowStream):
        # The check has read it to its end.
        connection.register("incoming", write.rows.opened())
    connection.execute(f"INSERT INTO {write.table} BY NAME SELECT * FROM incoming")
    connection.execute("DROP VIEW incoming")


def show(connection: "duckdb.DuckDBPyConnection", write: Write) -> None:
    """Make the rows the view `incoming`; those of a stream can be looked at once."""
    if isinstance(write.rows, Parquet):
        # As far as the table has columns for what is in the files.
        columns = ", ".join(f'"{name}"' for name, _, _ in declared_columns()[write.table])
        paths = ", ".join(quoted(str(path)) for path in write.rows.paths)
        connection.execute(
            f"CREATE OR REPLACE TEMP VIEW incoming AS SELECT {columns} "
            f"FROM read_parquet([{paths}], union_by_name = true)"
        )
    elif isinstance(write.rows, ArrowStream):
        connection.register("incoming", write.rows.opened())
    else:
        connection.register("incoming", write.rows)


def _where(equal: Mapping[str, int | str | Sequence[str]]) -> tuple[str, list[object]]:
    """The condition that a row has these values, and its parameters."""
    conditions, values = ["true"], list[object]()
    for column, value in equal.items():
        if isinstance(value, int):
            conditions.append(f'"{column}" = ?')
            values.append(value)
        else:
            # Not list_contains, which looks through all values for each row.
            conditions.append(f'"{column}" IN (SELECT unnest(?::VARCHAR[]))')
            values.append([value] if isinstance(value, str) else list(value))
    return " AND ".join(conditions), values
