"""Replacing rows of a table in an open transaction, and the bounds on memory while that happens.

A write deletes the rows of a partition and adds the new ones. Rows come from memory, from Parquet files
or from a stream in a file; the last two are of any size.
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
"""For taking in files. Choosing the tightest form for every column takes three times as long as writing
the rows. DuckDB takes rows in one after the other: a second thread copies them once more."""
FILES_MEMORY, STREAM_MEMORY, STREAM_ROWS = "300MB", "64MB", 10_240
"""Bounds on DuckDB's memory while it takes in files; without one the rows wait in memory for the
commit. A stream is written so many rows at a time, of up to 6 KB: DuckDB's own 122,880 would need more
than all else that reads a shard. With a primary key fewer rows at a time take longer, and its index
more memory. What does not fit, such as many texts of over 256 KB, is written again without a bound."""

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
        """Open a reader that reads the rows once.

        The file is memory-mapped: unused columns are not read, and the system can free what was read.
        DuckDB keeps about half of the rows in memory until it has all of them.
        """
        import pyarrow as pa

        return pa.ipc.open_stream(pa.memory_map(str(self.path)))


class TableWrite(NamedTuple):
    """One table's new rows and the partition of it that they replace."""

    table: str
    rows: "pa.Table | Parquet | ArrowStream"
    partition: Partition


def memory_bound(writes: Sequence[TableWrite]) -> str | None:
    """The bound on DuckDB's memory for these writes; None where all rows are in memory already."""
    if has_stream(writes):
        return STREAM_MEMORY
    return FILES_MEMORY if any(isinstance(write.rows, Parquet) for write in writes) else None


def has_stream(writes: Sequence[TableWrite]) -> bool:
    """Whether rows of any write are a stream."""
    return any(isinstance(write.rows, ArrowStream) for write in writes)


def replace_rows(
    connection: "duckdb.DuckDBPyConnection", write: TableWrite, *, without_rules: bool = False
) -> None:
    """Write rows in the open transaction.

    Args:
        connection: A connection in a transaction.
        write: The rows, and the partition that they replace.
        without_rules: Whether the table has no keys and checks, so that rows are compared with the
            declarations of `sql/`.

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
    # A row outside the partition would not be replaced the next time, and stand twice.
    if stray:
        raise WarehouseError(
            f"{stray} rows for {write.table} lie outside the partition they replace."
        )
    if without_rules:
        require_rules(
            connection,
            write.table,
            [*write.partition],
            lambda reading: _register(reading, write),
        )
    # A stream has been read to its end.
    _register(connection, write)
    connection.execute(f"INSERT INTO {write.table} BY NAME SELECT * FROM incoming")
    connection.execute("DROP VIEW incoming")


def _register(connection: "duckdb.DuckDBPyConnection", write: TableWrite) -> None:
    """Register the rows as the view `incoming`. The rows of a stream can be read once."""
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


def condition(equal: Mapping[str, int | str | Sequence[str]]) -> tuple[str, list[object]]:
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
