"""Staging files: a shard's rows and rejections, written as they are read.

A shard of millions of rows is never in memory, and the warehouse is locked only while it loads the
files.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from methods.ingest.wit import Rejection, WitRow
from resources.corpus.settings import CorpusError
from resources.files.rows import RowsFile, RowsStream
from resources.warehouse import ArrowStream, Parquet, arrow_schema

MOST_STORED = 100_000
"""Rejections of a shard that are stored; further ones are counted by reason."""
LEAST_VALID_SHARE = 0.3
"""After MOST_STORED rejections, reading stops if less than this share of the
records read so far are valid rows."""


@dataclass(frozen=True)
class StagedShard:
    """A shard's files: `rows` for `ingest.wit_rows`, `rejected` for `ingest.rejected`."""

    rows: ArrowStream
    rejected: Parquet
    n_rows: int
    reasons: dict[str, int]
    """Number of rejections by reason."""
    broken: str | None = None
    """Why the shard could not be read to its end, in a sentence; the files have what came before."""


class StagedWriter:
    """Writes rows and rejections of one shard as they are read; a context manager.

    `unit` is the word for one input in messages: `line` or `record`.
    """

    def __init__(self, folder: Path, shard: str, unit: str = "line") -> None:
        self._rows = RowsStream(folder / "rows.arrow", arrow_schema("ingest.wit_rows"))
        self._rejected = RowsFile(folder / "rejected.parquet", arrow_schema("ingest.rejected"))
        self._reasons: Counter[str] = Counter()
        self._shard = shard
        self._unit = unit

    def __enter__(self) -> "StagedWriter":
        return self

    def __exit__(self, *error: object) -> None:
        self._rows.__exit__(*error)
        self._rejected.__exit__(*error)

    def write(self, items: Iterable[WitRow | Rejection]) -> None:
        """Add rows and rejections, in order.

        Raises:
            CorpusError: Most of many lines were rejected, so the file is not a shard. Reading a packed
                file of empty lines to its end would take minutes and gigabytes.
        """
        for item in items:
            if isinstance(item, Rejection):
                self._reasons[item.reason] += 1
                if self._rejected.n_rows >= MOST_STORED:
                    self._require_some_rows()
                    continue
                reference = f"{self._unit} {item.line_number}"
                row = {"wit_shard": self._shard, "kind": "row", "reference": reference}
                self._rejected.add(row | asdict(item))
            else:
                self._rows.add({"wit_shard": self._shard} | asdict(item))

    def write_plain(self, rows: pa.RecordBatch) -> None:
        """Add a batch of rows with all columns of the table except `wit_shard`."""
        shard = pa.repeat(self._shard, len(rows))
        self._rows.add_batch(rows.append_column("wit_shard", shard))

    def _require_some_rows(self) -> None:
        n_rejected, n_rows = self._reasons.total(), self._rows.n_rows
        if n_rows < LEAST_VALID_SHARE * (n_rows + n_rejected):
            reason, n = self._reasons.most_common(1)[0]
            raise CorpusError(
                f"Shard {self._shard!r} is not read further: {n_rejected:,} of its first "
                f"{n_rows + n_rejected:,} {self._unit}s were rejected ({n:,} as {reason}). Replace it "
                "with a file of WIT."
            )

    def staged(self, broken: str | None = None) -> StagedShard:
        """Return the staged files, after everything that could be read was written."""
        return StagedShard(
            ArrowStream(self._rows.path),
            Parquet([self._rejected.path]),
            self._rows.n_rows,
            dict(self._reasons),
            broken,
        )
