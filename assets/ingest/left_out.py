"""Dropped rows of ingestion: lists them in `ingest.left_out`, and counts them in the metadata."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from assets.common.drops import in_words, reasons
from resources.files.rows import RowsFile, portions
from resources.warehouse import Parquet, TableWrite, arrow_schema

ROWS_AT_ONCE = 2_000


class DropRecorder:
    """Context manager that collects the rows that `step` drops, in a Parquet file at `path`."""

    def __init__(self, path: Path, step: str) -> None:
        self._file = RowsFile(path, arrow_schema("ingest.left_out"))
        self._step = step
        self._paths = [path]
        self._rows: Counter[str] = Counter()

    def __enter__(self) -> "DropRecorder":
        self._file.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._file.__exit__(*error)

    def add(self, row: Mapping[str, Any], reference: str, reason: str, detail: str) -> None:
        """Record a dropped row, page or language.

        Args:
            row: The row, with its `wit_shard`; for a page or language also with `n_rows`.
            reference: The name of the dropped row, page or language.
            reason: The reason, as a key such as `no_topic`.
            detail: The reason, as a sentence.
        """
        n_rows = row.get("n_rows", 1)
        self._rows[reason] += n_rows
        self._file.add(
            {
                "wit_shard": row["wit_shard"],
                "step": self._step,
                "reference": reference,
                "reason": reason,
                "detail": detail,
                "n_rows": n_rows,
            }
        )

    def add_file(self, path: Path) -> None:
        """Record the dropped rows in a file that a query wrote, with the columns of the table."""
        self._paths.append(path)
        for portion in portions(path, ROWS_AT_ONCE):
            self._rows.update(row["reason"] for row in portion)

    def write(self, shards: Sequence[str]) -> TableWrite:
        """Return the table write that replaces the rows of these shards and this step."""
        of_step = {"wit_shard": list(shards), "step": self._step}
        return TableWrite("ingest.left_out", Parquet(self._paths), of_step)

    def details(self, context: dg.AssetExecutionContext, n_kept: int) -> dict[str, Any]:
        """Return the counts as metadata, and log them, as a warning if no row was kept.

        Args:
            context: The context of the step.
            n_kept: The number of kept rows.
        """
        total = self._rows.total()
        if total:
            log = context.log.info if n_kept else context.log.warning
            log(f"{self._step}: {n_kept:,} kept, {total:,} rows left out ({in_words(self._rows)})")
        return {"rows left out": total, **reasons(self._rows)}
