"""The warehouse: reading and writing of tables in a DuckDB file, or in a lake that machines share.

Most callers only need `Warehouse`. `configured.py` returns the warehouse that the environment
configures, `declarations.py` reads the declarations in `sql/`, and `versions.py` migrates older tables.
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
