"""The tables: read and replaced on a DuckDB file, or on a lake that several machines share.

`Warehouse` is the whole of it for most callers. `configured.py` opens the one that the environment
names, `declarations.py` says what `sql/` declares, `versions.py` brings older tables to it.
"""

from resources.warehouse.declarations import (
    SQL_ROOT,
    STAGES,
    WarehouseError,
    arrow_schema,
    column_descriptions,
    declared_columns,
    sql_files,
    sql_text,
)
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.writes import ArrowStream, Parquet, TableWrite

__all__ = [
    "SQL_ROOT",
    "STAGES",
    "ArrowStream",
    "Parquet",
    "Warehouse",
    "WarehouseError",
    "TableWrite",
    "arrow_schema",
    "column_descriptions",
    "declared_columns",
    "sql_files",
    "sql_text",
]
