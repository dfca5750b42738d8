"""Transfer of all tables of a warehouse to a lake, through Parquet files."""

from collections.abc import Iterable
from pathlib import Path

from resources.files import rows
from resources.warehouse.declarations import declared_tables
from resources.warehouse.duckdb_file import quoted
from resources.warehouse.lake import Lake
from resources.warehouse.lake_connection import LakeError
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.writes import Parquet, TableWrite


def write_parquet(warehouse: Warehouse, folder: Path) -> None:
    """Write a snapshot of all tables to files `<schema>.<table>.parquet`.

    Args:
        warehouse: The warehouse.
        folder: The folder to write to.
    """
    database = warehouse.database
    with database.connection() as connection, database.at_one_moment(connection):
        for table in declared_tables():
            to = quoted(str(_file(folder, table)))
            connection.execute(f"COPY {table} TO {to} (COMPRESSION zstd)")


def fill(lake: Lake, folder: Path) -> int:
    """Fill a lake with the files of `write_parquet`, and compare all rows.

    An interrupted transfer continues where the tables differ.

    Args:
        lake: The lake.
        folder: The folder with the files.

    Returns:
        The number of rows.

    Raises:
        LakeError: A table has rows that are not in the files.
    """
    files = {table: _file(folder, table) for table in declared_tables()}
    n_rows = {table: rows.n_rows(path) for table, path in files.items()}
    for table, n in _n_rows_of(lake, files).items():
        if n and _n_missing(lake, f"FROM {table}", _rows_of(files[table])):
            raise LakeError(
                f"{table} of {lake.address.name} has rows of its own: name a lake in "
                "LOOM_WAREHOUSE that nothing has used, to move a workspace there."
            )
    # Skip tables without rows: most are empty, but cost as much to compare as others.
    filled = {table: path for table, path in files.items() if n_rows[table]}
    for table, path in filled.items():
        if _n_missing(lake, _rows_of(path), f"FROM {table}"):
            lake.replace_all([TableWrite(table, Parquet([path]), {})])
    for table, n in _n_rows_of(lake, files).items():
        n_missing = (
            _n_missing(lake, _rows_of(files[table]), f"FROM {table}") if n_rows[table] else 0
        )
        if n_missing or n != n_rows[table]:
            raise LakeError(
                f"{table} of {lake.address.name} differs from the workspace's in {n_missing} rows: "
                "stop what writes there, and move the workspace again."
            )
    return sum(n_rows.values())


def _n_rows_of(lake: Lake, tables: Iterable[str]) -> dict[str, int]:
    """Count the rows of each table, all in one query."""
    counts = " UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in tables)
    counted = lake.sql(f"SELECT * FROM ({counts}) AS counts(name, n)")
    return dict(zip(counted["name"].to_pylist(), counted["n"].to_pylist(), strict=True))


def _n_missing(lake: Lake, these: str, those: str) -> int:
    """Count the rows of `these` that are missing in `those`; duplicates count separately."""
    counted = lake.sql(f"SELECT count(*) AS n FROM (({these}) EXCEPT ALL ({those}))")
    return int(counted["n"][0].as_py())


def _file(folder: Path, table: str) -> Path:
    return folder / f"{table}.parquet"


def _rows_of(path: Path) -> str:
    return f"FROM read_parquet({quoted(str(path))})"
