"""Helpers for rows of tables: collect rows as Arrow, group them, and convert MAP columns to dicts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from assets.common.tables import rows_to_arrow

ROWS_AT_ONCE = 2_000
"""Rows that are collected as dicts before their conversion: a dict takes about twenty times the memory
of a row in Arrow.
"""


class ArrowRows:
    """Collects rows of a table one by one as Arrow. Texts are dictionary-encoded, so a text that many
    rows have is stored once in each batch.
    """

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
        """Return all rows, in the order in which they were added."""
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
    """Convert the entries of a MAP value (key, value) to a dict; None for NULL."""
    return None if entries is None else {entry["key"]: entry["value"] for entry in entries}


def rows_by(rows: Iterable[Mapping[str, Any]], *names: str) -> dict[tuple[Any, ...], list[Any]]:
    """Group rows by their values in these columns; the order of rows stays."""
    grouped: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        grouped.setdefault(tuple(row[name] for name in names), []).append(row)
    return grouped
