"""Read the tables of a workspace in a notebook (DuckDB, pandas), from a
read-only copy while runs go on.

`vlm-loom sql` reads such a copy, too.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from methods.naming import nearest
from resources.files import home
from resources.stores_of_home import require_upgradable_stores, usable_home
from resources.warehouse import Warehouse, WarehouseError
from resources.warehouse.configured import require_plain_path
from resources.warehouse.lake_connection import lake_address
from resources.warehouse.query_check import SEALED, TABLES, require_query

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa


class Home:
    """The tables of a workspace: a folder, by default `LOOM_WORKSPACE`, or else `data`.

    Each call reads the current tables. Nothing can be changed.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        """Name the workspace. Raises WarehouseError if there is no such folder."""
        if folder and not Path(folder).is_dir():
            raise WarehouseError(f"There is no folder {folder}: give the folder of a workspace.")
        folder = folder or os.environ.get("LOOM_WORKSPACE") or os.environ.get("LOOM_HOME") or "data"
        self._path = Path(folder).resolve() / home.warehouse_path().name

    def tables(self) -> list[str]:
        """List the names of all tables and views, such as `evaluate.scores`. Raises UserError."""
        with read_copy(self._path) as connection:
            return [name for name, _ in connection.execute(TABLES).fetchall()]

    def table(self, name: str, *columns: str) -> "pa.Table":
        """Read a table or view.

        Args:
            name: The name, such as `evaluate.scores`.
            *columns: The columns to read; all if none is given.

        Returns:
            An Arrow table.

        Raises:
            UserError: There is no such table or column; the message has the nearest name.
        """
        with read_copy(self._path) as connection:
            names = [table for table, _ in connection.execute(TABLES).fetchall()]
            if name not in names:
                raise WarehouseError(f"There is no table {name}; {nearest(name, names)}.")
            relation = connection.sql(f"FROM {name}")
            missing = sorted({*columns} - {*relation.columns})
            if missing:
                hint = nearest(missing[0], relation.columns)
                raise WarehouseError(f"{name} has no column {missing[0]}; {hint}.")
            what = ", ".join(f'"{column}"' for column in columns) or "*"
            return relation.select(what).to_arrow_table() if columns else relation.to_arrow_table()

    def frame(self, name: str, *columns: str) -> "pd.DataFrame":
        """Read a table or view as a pandas frame.

        Args:
            name: The name, such as `evaluate.scores`.
            *columns: The columns to read; all if none is given.

        Returns:
            A frame with the same columns.

        Raises:
            UserError: There is no such table or column.
        """
        return self.table(name, *columns).to_pandas()

    def sql(self, query: str, params: Mapping[str, Any] | None = None) -> "pa.Table":
        """Run one query on the tables.

        Args:
            query: A query that only reads.
            params: The values of its `$parameters` by name.

        Returns:
            The result as an Arrow table.

        Raises:
            UserError: The text is not a single query that only reads the tables.
            duckdb.Error: The query is wrong.
        """
        with read_copy(self._path) as connection:
            require_query(connection, query)
            return connection.sql(query, params=dict(params or {})).to_arrow_table()


@contextmanager
def read_copy(path: Path, as_of: str | None = None) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Open a connection that reads a copy of the tables, or a snapshot of the lake.

    Args:
        path: The DuckDB file of the workspace.
        as_of: The number of a snapshot or a time (UTC), for a lake; None for now.

    Yields:
        The connection.

    Raises:
        UserError: There are no tables, or no such snapshot.
        OSError: The copy cannot be written.
    """
    import duckdb

    if address := lake_address(path.parent):
        from resources.warehouse.lake import read_at

        with read_at(address, as_of) as connection:
            yield connection
        return
    if as_of is not None:
        raise WarehouseError(f"{path} has no snapshots: --as-of needs a lake (LOOM_WAREHOUSE).")
    require_plain_path(path.parent)
    if not path.exists():
        require_upgradable_stores(path.parent)
        raise WarehouseError("There are no tables yet: run `vlm-loom demo` or a job first.")
    # The copy is made next to the tables, where there is probably enough disk space.
    beside = path.parent if home.is_writable(path) else None
    with usable_home():
        folder = Path(tempfile.mkdtemp(prefix="sql-", dir=beside))
    try:
        copy = folder / path.name
        Warehouse(path).copy_to(copy)
        spilled = Path(tempfile.gettempdir()) / folder.name
        connection = duckdb.connect(
            str(copy), read_only=True, config={"temp_directory": str(spilled)}
        )
        # Opening the copy read-only is not enough: COPY, EXPORT and ATTACH would reach other files.
        connection.execute(SEALED)
    finally:
        # The deleted file stays available while it is open, and is freed even
        # if this process is killed.
        shutil.rmtree(folder)
    try:
        yield connection
    finally:
        connection.close()
        shutil.rmtree(spilled, ignore_errors=True)
