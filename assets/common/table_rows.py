"""Rows of tables: gathered as Arrow, grouped by columns, and their MAP columns as dicts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from assets.common.tables import rows_to_arrow

ROWS_AT_ONCE = 2_000
"""Rows that are dicts at the same time: one takes some twenty times the memory of its row in Arrow."""


class ArrowRows:
    """Rows of a table that are added one by one and kept as Arrow, where a text that several rows have
    stands once in some thousands."""

    def __init__(self, table: str):
        self._table = table
        self._waiting: list[Mapping[str, object]] = []
        self._batches = [_encoded(rows_to_arrow(table, []))]

    def add(self, row: Mapping[str, object]) -> None:
        """Add a row. Missing columns are NULL, and unknown columns are dropped."""
        self._waiting.append(row)
        if len(self._waiting) == ROWS_AT_ONCE:
            self._flush()

    def arrow(self) -> pa.Table:
        """All rows, in the order in which they were added."""
        self._flush()
        return pa.concat_tables(self._batches)

    def _flush(self) -> None:
        if self._waiting:
            self._batches.append(_encoded(rows_to_arrow(self._table, self._waiting)))
            self._waiting = []


def _encoded(rows: pa.Table) -> pa.Table:
    columns = zip(rows.column_names, rows.columns, strict=True)
    return pa.table(
        {
            name: column.dictionary_encode() if pa.types.is_string(column.type) else column
            for name, column in columns
        }
    )


def map_of(entries: Sequence[Mapping[str, Any]] | None) -> dict[str, Any] | None:
    """A MAP column's entries (key, value) as a dict; None for NULL."""
    return None if entries is None else {entry["key"]: entry["value"] for entry in entries}


def rows_by(rows: Iterable[Mapping[str, Any]], *names: str) -> dict[tuple[Any, ...], list[Any]]:
    """Rows by their values in these columns, in their order."""
    grouped: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        grouped.setdefault(tuple(row[name] for name in names), []).append(row)
    return grouped
