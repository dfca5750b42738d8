"""Rows for tables of the warehouse, of which a test states only what matters to it."""

from collections.abc import Mapping, Sequence
from typing import Any

from assets.common.tables import write_rows
from resources.warehouse import Warehouse, declared_columns

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by table."""
DUMMIES: Mapping[str, Any] = {"INTEGER": 1, "BIGINT": 1, "DOUBLE": 0.5, "BOOLEAN": False}


def filled(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with something in each column that must have a value."""
    return {
        **{
            name: [] if kind.endswith("[]") or kind.startswith("MAP") else DUMMIES.get(kind, "x")
            for name, kind, nullable in declared_columns()[table]
            if not nullable
        },
        **row,
    }


def put(warehouse: Warehouse, rows: Rows, where: Mapping[str, Any] | None = None) -> None:
    """Replace tables, or those of their rows that `where` selects, by such rows."""
    write_rows(
        warehouse, {table: [filled(table, row) for row in of] for table, of in rows.items()}, where
    )
