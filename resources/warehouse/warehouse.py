"""The tables of one database: queries of them, and replacements of their rows.

Connections and transactions are those of the `Database`: a file, or a lake (`lake.py`).
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from methods.ids import content_id
from resources.warehouse.database import Database
from resources.warehouse.declarations import (
    Columns,
    WarehouseError,
    columns_of,
    declared_columns,
    sql_text,
)
from resources.warehouse.file_database import FileDatabase
from resources.warehouse.versions import require_kept
from resources.warehouse.writes import Partition, TableWrite, condition

if TYPE_CHECKING:
    import pyarrow as pa

_TERM = re.compile(r"(\w+)( DESC)?(?=, |$)")
PORTION_SETTINGS = "SET memory_limit = '300MB'; SET threads = 1"
"""For reading a portion after the other: without a bound the whole file comes to be in memory."""
_LOG = logging.getLogger(__name__)


class Warehouse:
    """Reads and replaces the tables of one database; safe among any number of processes.

    Args:
        path: The DuckDB file; it is created at the first use.
        log: Gets a line when a call waits for another process.
        database: The database in place of the file.
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

    def check(self) -> None:
        """Bring the tables to this version now, not at the first use. Raises WarehouseError."""
        self.database.check()

    def require_upgradable(self) -> None:
        """Raise WarehouseError unless the tables can be brought to this version; nothing is changed."""
        self.database.require_upgradable()

    def require_kept(self) -> None:
        """Raise WarehouseError where the file, which nobody uses, is from before the baseline."""
        require_kept(self.path)

    def kept_open(self) -> AbstractContextManager[None]:
        """Keep one connection for all that this thread reads in the block."""
        return self.database.kept_open()

    def read(self, name: str, params: Mapping[str, object] | None = None) -> "pa.Table":
        """Result of the query in `sql/<name>.sql`, with its named `$parameters` bound."""
        return self.sql(sql_text(name), params)

    def read_portion(self, name: str, params: Mapping[str, object]) -> "pa.Table":
        """As `read`, of a portion of tables of any size: what was read of the file is not kept."""
        with self.database.connection(own_instance=True) as connection:
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
        with self.database.connection() as connection, self.database.at_one_moment(connection):
            for name in names:
                (statement,) = connection.extract_statements(sql_text(query.format(name)))
                bound = {key: params[key] for key in statement.named_parameters}
                rows[name] = connection.sql(statement, params=bound).to_arrow_table().to_pylist()
        return rows

    def snapshot_read(self, name: str, params: Mapping[str, object]) -> "pa.Table":
        """As `read`, for a page: the tables are not made or changed, and nobody is waited for long.

        Raises WarehouseError where there are no tables, or they cannot be read now.
        """
        with self.database.snapshot() as connection:
            return connection.sql(sql_text(name), params=dict(params)).to_arrow_table()

    def export(self, name: str, params: Mapping[str, object], path: Path) -> Path:
        """Write the result of `sql/<name>.sql` to a Parquet file, whatever its size."""
        query = sql_text(name).rstrip().removesuffix(";")
        with self.database.connection() as connection:
            # Not by the query's relation: with parameters that one holds its result in memory.
            connection.execute(
                f"COPY ({query}\n) TO $to_path (FORMAT parquet, COMPRESSION uncompressed)",
                {**params, "to_path": str(path)},
            )
        return path

    def sql(self, text: str, params: Mapping[str, object] | None = None) -> "pa.Table":
        """Result of one SELECT, for tests and for people at a prompt; assets use `read`."""
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
        """Columns of the rows of one table or view whose columns have the values `equal`.

        Without `columns` all; a sequence means any of its values. `order` is as in SQL: columns, each
        with `DESC` if the other way round, or `ALL`. What joins or computes is a file in `sql/`.
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
        """Number of rows in a table or view that `sql/` declares, or of those of `partition` alone."""
        ((n_rows,),) = self._select("count(*)", table, partition).to_pydict().values()
        return int(n_rows)

    def first_rows(self, table: str, partition: Partition, n_rows: int) -> "pa.Table":
        """Some rows of the partition of a table."""
        return self._select("*", table, partition, f"LIMIT {n_rows}")

    def fingerprint(self, table: str, partition: Partition | None = None) -> str:
        """A hash of the rows of a table or view, in any order, or of those of `partition` alone.

        The hashes are summed: an exclusive or would cancel equal rows.
        """
        figures = self._select("count(*) AS n, sum(hash(r)) AS sum", table, partition)
        return content_id(*(str(column[0]) for column in figures.to_pydict().values()))

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

    def replace(self, table: str, rows: "pa.Table", partition: Partition | None = None) -> int:
        """Replace the partition's rows by `rows` in one transaction; returns their number.

        Doing it twice is doing it once. Raises WarehouseError when a row breaks the table's rules.
        """
        self.replace_all([TableWrite(table, rows, partition or {})])
        return rows.num_rows

    def replace_all(self, writes: Sequence[TableWrite]) -> None:
        """Several replacements as one transaction: all are seen, or none. Raises WarehouseError."""
        self.database.replace_all(writes)

    def snapshots_of_releases(self) -> dict[str, int]:
        """Release -> number of the snapshot that it was frozen in; a file has none."""
        return {}

    def columns(self) -> Columns:
        """Table or view -> [(column, type, nullable)], as the file has it now."""
        with self.database.connection() as connection:
            return columns_of(connection)

    def copy_to(self, target: Path) -> None:
        """Copy the tables, as they are at one moment, to a new file of DuckDB."""
        self.database.copy_to(target)
