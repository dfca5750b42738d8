"""WIT shards as tab-separated text, compressed or not.

What belongs here: reading such a file in one pass and in constant memory. Lines that are plainly rows
are typed by the column (`plain_rows.py`), all others one by one by `methods/ingest/wit_records.py`,
which also gives the reason of a rejection.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import BufferedIOBase
from pathlib import Path
from typing import cast

import pyarrow as pa
from isal import igzip_threaded, isal_zlib

from methods.ingest.wit import MAX_LINE_BYTES, require_header
from methods.ingest.wit_records import parse_records
from resources.corpus.lines import line_batches
from resources.corpus.plain_rows import plain_rows
from resources.corpus.settings import CorpusError
from resources.corpus.shard import FileShard
from resources.corpus.staging import Staged, StagedWriter

# Errors of a damaged file. (isal's stubs declare its error as an instance.)
UNREADABLE = cast("tuple[type[Exception], ...]", (OSError, EOFError, isal_zlib.IsalError))

BATCHES_AHEAD = 2

Read = tuple[pa.RecordBatch, pa.RecordBatch]


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
    try:
        with _opened(path) as file, StagedWriter(folder, shard) as writer:
            require_header(file.readline(MAX_LINE_BYTES))
            writer.write(parse_records(_others(file, writer)))
        # What Arrow keeps for later would stand beside what DuckDB needs to take in the files.
        pa.default_memory_pool().release_unused()
        return writer.staged()
    except ValueError as error:
        raise CorpusError(
            f"Shard {shard!r} is not in WIT's form: give {path} its header line. {error}"
        ) from error
    except UNREADABLE as error:
        raise CorpusError(
            f"Shard {shard!r} cannot be read to its end ({error}): "
            f"replace {path} with an intact copy."
        ) from error


def _opened(path: Path) -> BufferedIOBase:
    # A packed file is unpacked in a thread of its own.
    opener = igzip_threaded.open if path.name.endswith(".gz") else open
    return cast(BufferedIOBase, opener(path, "rb"))


def _others(file: BufferedIOBase, writer: StagedWriter) -> Iterator[tuple[int, bytes]]:
    """Write the plain rows; yield the lines that are none, in order."""
    for rows, others in _ahead(line_batches(file, first_number=2)):
        writer.write_plain(rows)
        for line in others.to_pylist():
            yield line["number"], line["bytes"] if line["text"] is None else line["text"].encode()


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[Read]:
    """The plain rows and the others of each batch; the next ones are read meanwhile."""
    with ThreadPoolExecutor(BATCHES_AHEAD) as pool:
        waiting: deque[Future[Read]] = deque()
        for batch in batches:
            waiting.append(pool.submit(plain_rows, batch))
            if len(waiting) > BATCHES_AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
