"""Idempotent writes: replace the rows of a partition in an open transaction, with bounded memory.

A write deletes the rows of a partition and inserts the new ones. The rows come from memory, from
Parquet files or from an Arrow stream in a file; files may be larger than memory.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from resources.warehouse.declarations import WarehouseError, declared_columns
from resources.warehouse.duckdb_file import quoted
from resources.warehouse.staging import require_rules

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

BULK_SETTINGS = """
    PRAGMA force_compression = 'uncompressed';
    SET threads = 1;
"""
"""Settings for writes from files. Choosing the best compression for each column takes three times as
long as writing the rows. DuckDB inserts rows one after the other; a second thread would copy them once
more."""
FILES_MEMORY, STREAM_MEMORY, STREAM_ROWS = "300MB", "64MB", 10_240
"""DuckDB's memory limits for writes from Parquet files and from streams, and rows per group of streams.
Without a limit, all rows stay in memory until the commit. Rows of a stream have up to 6 KB: DuckDB's
default of 122,880 rows per group would need more memory than the rest of the ingest of a shard. With a
primary key, smaller groups are slower, and the index needs more memory. A write that exceeds the limit,
for example with many texts of over 256 KB, is repeated without a limit."""

Partition = Mapping[str, str | Sequence[str]]
"""The rows that a write replaces: column -> value or several values; empty for the whole table."""


class Parquet(NamedTuple):
    """Rows in Parquet files, too many for memory.

    The files may have more columns than the table, and different files may have different columns.
    """

    paths: Sequence[Path]


class ArrowStream(NamedTuple):
    """Rows with all columns in a file in Arrow's streaming format, too many for memory."""

    path: Path

    def opened(self) -> "pa.RecordBatchReader":
        """Open a reader that reads the rows once.

        The file is memory-mapped: unused columns are not read, and the operating system can free pages
        that were read. DuckDB keeps about half of the rows in memory until it has read all of them.
        """
        import pyarrow as pa

        return pa.ipc.open_stream(pa.memory_map(str(self.path)))


class TableWrite(NamedTuple):
    """The new rows of a table, and the partition that they replace."""

    table: str
    rows: "pa.Table | Parquet | ArrowStream"
    partition: Partition


def memory_bound(writes: Sequence[TableWrite]) -> str | None:
    """Return DuckDB's memory limit for these writes; None if all rows are in memory already."""
    if has_stream(writes):
        return STREAM_MEMORY
    return FILES_MEMORY if any(isinstance(write.rows, Parquet) for write in writes) else None


def has_stream(writes: Sequence[TableWrite]) -> bool:
    """Whether the rows of any write are a stream."""
    return any(isinstance(write.rows, ArrowStream) for write in writes)


def replace_rows(
    connection: "duckdb.DuckDBPyConnection", write: TableWrite, *, without_rules: bool = False
) -> None:
    """Write rows in the open transaction.

    Args:
        connection: A connection in a transaction.
        write: The rows, and the partition that they replace.
        without_rules: Whether the stored table has no keys and checks (on a lake), so that the rows are
            checked against the declarations in `sql/`.

    Raises:
        WarehouseError: A row is outside the partition.
        duckdb.ConstraintException: A row violates a key or a check.
    """
    where, values = condition(write.partition)
    connection.execute(f"DELETE FROM {write.table} WHERE {where}", values)
    if not isinstance(write.rows, Parquet | ArrowStream) and not write.rows.num_rows:
        return
    _register(connection, write)
    stray = connection.execute(
        f"SELECT count(*) FROM incoming WHERE NOT ({where})", values
    ).fetchall()[0][0]
    # The next write would not replace a row outside the partition, but insert it a second time.
    if stray:
        raise WarehouseError(
            f"{stray} rows for {write.table} lie outside the partition they replace."
        )
    if without_rules:
        require_rules(
            connection, write.table, [*write.partition], lambda reading: _register(reading, write)
        )
    # Register again: a stream can only be read once.
    _register(connection, write)
    connection.execute(f"INSERT INTO {write.table} BY NAME SELECT * FROM incoming")
    connection.execute("DROP VIEW incoming")


def _register(connection: "duckdb.DuckDBPyConnection", write: TableWrite) -> None:
    """Register the rows as the view `incoming`. The rows of a stream can be read once."""
    if isinstance(write.rows, Parquet):
        # Only the columns that the table has.
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


def condition(equal: Mapping[str, int | str | Sequence[str]]) -> tuple[str, list[object]]:
    """Make the SQL condition that a row has these values, and its parameters."""
    conditions, values = ["true"], list[object]()
    for column, value in equal.items():
        if isinstance(value, int):
            conditions.append(f'"{column}" = ?')
            values.append(value)
        else:
            # Not list_contains, which searches all values for each row.
            conditions.append(f'"{column}" IN (SELECT unnest(?::VARCHAR[]))')
            values.append([value] if isinstance(value, str) else list(value))
    return " AND ".join(conditions), values
