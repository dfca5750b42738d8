"""The interface of the warehouse: queries, and idempotent writes that replace rows of tables.

A `Database` opens connections and transactions, on a DuckDB file or on a lake (`lake.py`).
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from methods.ids import content_id
from resources.warehouse.database import Database, Result
from resources.warehouse.declarations import (
    Columns,
    WarehouseError,
    columns_of,
    declared_columns,
    sql_text,
)
from resources.warehouse.file_database import FileDatabase
from resources.warehouse.writes import Partition, TableWrite, condition

if TYPE_CHECKING:
    import pyarrow as pa

_TERM = re.compile(r"(\w+)( DESC)?(?=, |$)")
PORTION_SETTINGS = "SET memory_limit = '300MB'; SET threads = 1"
"""Settings for reads in portions: without a limit, DuckDB would keep the whole file in memory."""
_LOG = logging.getLogger(__name__)


def _repeatable(method: Callable[..., Result]) -> Callable[..., Result]:
    """Let the database repeat a method that reads."""

    @wraps(method)
    def reading(warehouse: "Warehouse", *arguments: Any, **named: Any) -> Result:
        return warehouse.database.reading(lambda: method(warehouse, *arguments, **named))

    return reading


class Warehouse:
    """Reads and replaces the tables of one database; safe among any number of processes.

    Args:
        path: The DuckDB file; it is created at the first use.
        log: Called with a message if a call waits for another process.
        database: A database that is used instead of the file.
    """

    def __init__(
        self,
        path: Path | str,
        log: Callable[[str], None] = _LOG.warning,
        database: Database | None = None,
    ):
        self.path = Path(path)
        self.database = database or FileDatabase(self.path, log)

    def is_there(self) -> bool:
        """Whether the tables were created."""
        return self.database.exists()

    @_repeatable
    def check(self) -> None:
        """Upgrade the tables to this version now, not at the first use. Raises WarehouseError."""
        self.database.check()

    def kept_open(self) -> AbstractContextManager[None]:
        """Keep one connection open for all reads of this thread in the block."""
        return self.database.kept_open()

    def read(self, name: str, params: Mapping[str, object] | None = None) -> "pa.Table":
        """Execute the query in `sql/<name>.sql`.

        Args:
            name: The path of the query below `sql/`, without its ending.
            params: The values of its `$parameters`.
        """
        return self.sql(sql_text(name), params)

    @_repeatable
    def read_portion(self, name: str, params: Mapping[str, object]) -> "pa.Table":
        """Execute a query for a portion of large tables, without keeping the read blocks in memory.

        Args:
            name: The path of the query below `sql/`, without its ending.
            params: The values of its `$parameters`.
        """
        with self.database.connection(own_instance=True) as connection:
            connection.execute(PORTION_SETTINGS)
            return connection.sql(sql_text(name), params=dict(params)).to_arrow_table()

    @_repeatable
    def read_rows(
        self, query: str, names: Sequence[str], params: Mapping[str, object]
    ) -> dict[str, list[dict[str, Any]]]:
        """Execute a query for several names in one snapshot.

        Opening a file takes longer than reading a few rows, so this runs related queries together.

        Args:
            query: The path of the query below `sql/`, without its ending; `{}` stands for the name.
            names: The names.
            params: The values of `$parameters`; each query gets the values that it uses.

        Returns:
            The rows by name.
        """
        rows = {}
        with self.database.connection() as connection, self.database.at_one_moment(connection):
            for name in names:
                (statement,) = connection.extract_statements(sql_text(query.format(name)))
                bound = {key: params[key] for key in statement.named_parameters}
                rows[name] = connection.sql(statement, params=bound).to_arrow_table().to_pylist()
        return rows

    def snapshot_read(self, name: str, params: Mapping[str, object]) -> "pa.Table":
        """Execute a query for an HTML page: tables are not created or changed, and waits are short.

        Args:
            name: The path of the query below `sql/`, without its ending.
            params: The values of its `$parameters`.

        Raises:
            WarehouseError: There are no tables, or they cannot be read now.
        """
        with self.database.snapshot() as connection:
            return connection.sql(sql_text(name), params=dict(params)).to_arrow_table()

    @_repeatable
    def export(self, name: str, params: Mapping[str, object], path: Path) -> Path:
        """Write the result of a query of any size to a Parquet file.

        Args:
            name: The path of the query below `sql/`, without its ending.
            params: The values of its `$parameters`.
            path: The file.
        """
        query = sql_text(name).rstrip().removesuffix(";")
        with self.database.connection() as connection:
            # Not with a DuckDB relation: with parameters, it would hold the result in memory.
            connection.execute(
                f"COPY ({query}\n) TO $to_path (FORMAT parquet, COMPRESSION uncompressed)",
                {**params, "to_path": str(path)},
            )
        return path

    @_repeatable
    def sql(self, text: str, params: Mapping[str, object] | None = None) -> "pa.Table":
        """Execute one SELECT, for tests and interactive use; assets use `read`.

        Args:
            text: The query.
            params: The values of its `$parameters`.
        """
        with self.database.connection() as connection:
            return connection.sql(text, params=dict(params or {})).to_arrow_table()

    def select(
        self,
        table: str,
        *columns: str,
        order: str = "",
        distinct: bool = False,
        **equal: int | str | Sequence[str],
    ) -> "pa.Table":
        """Select columns of a table or view. Joins and computations belong into files of `sql/`.

        Args:
            table: The table or view.
            *columns: The columns; by default all.
            order: Columns as in SQL's ORDER BY, or `ALL`.
            distinct: Whether equal rows are returned once.
            **equal: Column -> the value that rows must have; a sequence means any of its values.
        """
        terms = _TERM.findall(order)
        if order != ", ".join(name + how for name, how in terms):
            raise WarehouseError(f"{order!r} is not an order of columns.")
        names = {"ALL", *(name for name, *_ in declared_columns().get(table, []))}
        if missing := sorted({*columns, *equal, *(name for name, _ in terms)} - names):
            raise WarehouseError(f"{table} has no column {', '.join(missing)} in sql/.")
        what = ", ".join(f'"{name}"' for name in columns) or "*"
        by = ", ".join(name if name == "ALL" else f'"{name}"{how}' for name, how in terms)
        then = f"ORDER BY {by}" if by else ""
        return self._select(f"DISTINCT {what}" if distinct else what, table, equal, then)

    def count(self, table: str, partition: Partition | None = None) -> int:
        """Count the rows of a table or view.

        Args:
            table: The table or view.
            partition: The partition to count; None for all rows.
        """
        ((n_rows,),) = self._select("count(*)", table, partition).to_pydict().values()
        return int(n_rows)

    def first_rows(self, table: str, partition: Partition, n_rows: int) -> "pa.Table":
        """Read some rows of a partition.

        Args:
            table: The table.
            partition: The partition.
            n_rows: The maximum number of rows.
        """
        return self._select("*", table, partition, f"LIMIT {n_rows}")

    def fingerprint(self, table: str, partition: Partition | None = None) -> str:
        """Hash the rows of a table or view, independent of their order.

        The hashes of rows are added; with XOR, two equal rows would cancel each other.

        Args:
            table: The table or view.
            partition: The partition to hash; None for all rows.
        """
        figures = self._select("count(*) AS n, sum(hash(r)) AS sum", table, partition)
        return content_id(*(str(column[0]) for column in figures.to_pydict().values()))

    @_repeatable
    def _select(
        self,
        what: str,
        table: str,
        equal: Mapping[str, int | str | Sequence[str]] | None,
        then: str = "",
    ) -> "pa.Table":
        if table not in declared_columns():
            raise WarehouseError(f"There is no table {table} in sql/.")
        where, values = condition(equal or {})
        with self.database.connection() as connection:
            query = f"SELECT {what} FROM {table} AS r WHERE {where} {then}"
            return connection.sql(query, params=values).to_arrow_table()

    def replace(self, table: str, rows: "pa.Table", partition: Partition | None = None) -> None:
        """Replace the rows of a partition in one transaction. The operation is idempotent.

        Args:
            table: The table.
            rows: The new rows.
            partition: The partition; None for the whole table.

        Raises:
            WarehouseError: A row violates a constraint of the table.
        """
        self.replace_all([TableWrite(table, rows, partition or {})])

    def replace_all(self, writes: Sequence[TableWrite]) -> None:
        """Run several writes as one transaction, all or none. Raises WarehouseError."""
        self.database.replace_all(writes)

    def snapshots_of_releases(self) -> dict[str, int]:
        """Return release id -> number of the snapshot in which it was frozen; empty for a file."""
        return {}

    @_repeatable
    def columns(self) -> Columns:
        """Return table or view -> [(column, type, nullable)], as the database has it now."""
        with self.database.connection() as connection:
            return columns_of(connection)

    def copy_to(self, target: Path) -> None:
        """Copy a snapshot of the tables to a new DuckDB file."""
        self.database.copy_to(target)
