"""WIT shards as tab-separated text, compressed or not.

What belongs here: reading such a file with DuckDB in one pass. Lines that are plainly rows are typed
in SQL, all others by `methods/ingest/wit_records.py`, which also gives the reason of a rejection.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from isal import igzip, isal_zlib

from methods.ingest.wit import EDGES, MAX_LINE_BYTES, require_header
from methods.ingest.wit_records import parse_records
from resources.corpus.lines import SCHEMA, line_batches
from resources.corpus.settings import CorpusError
from resources.corpus.shard import FileShard
from resources.corpus.staging import Staged, StagedWriter
from resources.rows_file import BYTES_A_GROUP, ROWS_A_GROUP
from resources.warehouse import Parquet, sql_text

if TYPE_CHECKING:
    import duckdb

# Keeping the order of rows would hold the whole file in memory.
LIMITS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "400MB",
    "preserve_insertion_order": "false",
}
# Errors of a damaged file. (isal's stubs declare its error as an instance.)
UNREADABLE = cast("tuple[type[Exception], ...]", (OSError, EOFError, isal_zlib.IsalError))
# Seventeen fields, each without a quote at its beginning, or in quotes with those inside it doubled and
# no tab.
_FIELD = r'(?:(?:[^"\t][^\t]*)?|"(?:[^"\t]|"")*")'
PLAIN_QUOTES = rf"{_FIELD}(?:\t{_FIELD}){{16}}\r?\n"


class TsvShard(FileShard):
    """A file in the format that WIT is published in."""

    def stage(self, folder: Path) -> Staged:
        """Its lines after the header: each is part of a row, or a rejection. Raises CorpusError."""
        return stage_tsv(self.path, self.name, folder)


def stage_tsv(path: Path, shard: str, folder: Path) -> Staged:
    """Read the shard at `path` into Parquet files in `folder`.

    Every line after the header becomes part of a row or a rejection. Memory does not grow with the
    file. Raises CorpusError.
    """
    import duckdb

    plain = folder / "plain.parquet"
    failures: list[Exception] = []
    try:
        opener = igzip.open if path.name.endswith(".gz") else open
        with (
            cast(BinaryIO, opener(path, "rb")) as file,
            duckdb.connect(config=LIMITS | {"temp_directory": str(folder)}) as connection,
        ):
            require_header(file.readline(MAX_LINE_BYTES))
            connection.execute("SET enable_progress_bar = false")
            connection.execute(sql_text("ingest/staging/wit_macros"))
            batches = _until_failure(line_batches(file, first_number=2), failures)
            connection.register("lines", pa.RecordBatchReader.from_batches(SCHEMA, batches))
            connection.execute(
                f"COPY ({sql_text('ingest/staging/wit_lines')}) TO $path "
                "(FORMAT parquet, COMPRESSION uncompressed, "
                f"ROW_GROUP_SIZE {ROWS_A_GROUP}, ROW_GROUP_SIZE_BYTES {BYTES_A_GROUP})",
                {
                    "path": str(plain),
                    "shard": shard,
                    "max_bytes": MAX_LINE_BYTES,
                    "plain_quotes": PLAIN_QUOTES,
                    "edges": EDGES,
                },
            )
            if failures:
                raise failures[0]
            return _judged(connection, plain, shard, folder)
    except ValueError as error:
        raise CorpusError(
            f"Shard {shard!r} is not in WIT's form: give {path} its header line. {error}"
        ) from error
    except UNREADABLE as error:
        raise CorpusError(
            f"Shard {shard!r} cannot be read to its end ({error}): "
            f"replace {path} with an intact copy."
        ) from error


def _until_failure(
    batches: Iterator[pa.RecordBatch], failures: list[Exception]
) -> Iterator[pa.RecordBatch]:
    """The batches up to the first failure, which is put into `failures`.

    DuckDB may wait for ever for its own tasks when the stream that it reads raises an error.
    """
    try:
        yield from batches
    except Exception as error:
        failures.append(error)


def _judged(
    connection: "duckdb.DuckDBPyConnection", plain: Path, shard: str, folder: Path
) -> Staged:
    """The staging files, after the lines that are no plain rows have been parsed."""
    with StagedWriter(folder, shard) as writer:
        writer.write(parse_records(_suspects(plain)))
    n_plain = connection.execute(
        "SELECT count(*) FROM read_parquet(?) WHERE suspect IS NULL", [str(plain)]
    ).fetchall()[0][0]
    judged = writer.staged()
    rows = Parquet([plain, *judged.rows.paths], where="suspect IS NULL")
    return replace(judged, rows=rows, n_rows=n_plain + judged.n_rows)


def _suspects(plain: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are no plain rows, in order.

    Each of DuckDB's threads wrote its row groups in order, so at most as many groups overlap as there
    are threads, and only those are held in memory for sorting; DuckDB's sort would hold every line.
    """
    with pq.ParquetFile(plain) as file:
        place = file.schema_arrow.get_field_index("line_number")
        groups = sorted(
            (file.metadata.row_group(number).column(place).statistics.min, number)
            for number in range(file.num_row_groups)
        )
        waiting: list[tuple[int, bytes]] = []
        for (_, number), following in zip_longest(groups, groups[1:]):
            lines = file.read_row_group(number, ["line_number", "suspect"])
            lines = lines.filter(pc.field("suspect").is_valid())
            waiting += zip(lines[0].to_pylist(), lines[1].to_pylist(), strict=True)
            waiting.sort()
            n_ready = bisect_left(waiting, following[:1]) if following else len(waiting)
            yield from waiting[:n_ready]
            del waiting[:n_ready]
