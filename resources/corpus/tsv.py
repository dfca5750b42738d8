"""WIT shards as tab-separated text, compressed or not.

What belongs here: reading such a file in one pass and in constant memory. Lines that are plainly rows
are typed by the column (`plain_rows.py`), all others one by one by `methods/ingest/wit_records.py`,
which also gives the reason of a rejection.
"""

import gzip
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

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
UNREADABLE = cast(
    "tuple[type[Exception], ...]", (OSError, EOFError, isal_zlib.IsalError, zlib.error)
)

BATCHES_AHEAD = 2

Read = tuple[pa.RecordBatch, pa.RecordBatch]


class TsvShard(FileShard):
    """A file in the format that WIT is published in."""

    def stage(self, folder: Path) -> Staged:
        """Its lines after the header: each is part of a row, or a rejection.

        Raises CorpusError if nothing can be read.
        """
        return stage_tsv(self.path, self.name, folder)


def stage_tsv(path: Path, shard: str, folder: Path) -> Staged:
    """Read the shard at `path` into files in `folder`, as far as it can be read.

    Every whole line after the header becomes part of a row or a rejection. Memory does not grow with
    the file. Raises CorpusError if not even WIT's header is there, or nothing behind it can be read.
    """
    packed = path.name.endswith(".gz")
    # A packed file is unpacked in a thread of its own.
    staged = _staged(path, shard, folder, igzip_threaded.open if packed else open)
    if staged.broken and packed:
        # That reader loses up to a megabyte before the place where a file breaks.
        staged = replace(_staged(path, shard, folder, gzip.open), broken=staged.broken)
    # What Arrow keeps for later would stand beside what DuckDB needs to take in the files.
    pa.default_memory_pool().release_unused()
    if staged.broken and not staged.n_rows and not staged.reasons:
        raise CorpusError(staged.broken)
    return staged


def _staged(path: Path, shard: str, folder: Path, opened: Callable[[Path, str], Any]) -> Staged:
    with StagedWriter(folder, shard) as writer:
        try:
            with opened(path, "rb") as file:
                require_header(file.readline(MAX_LINE_BYTES))
                batches = _UntilBroken(line_batches(file, first_number=2))
                writer.write(parse_records(_others(batches, writer)))
                error = batches.error
        except ValueError as wrong:
            raise CorpusError(
                f"Shard {shard!r} is not in WIT's form: give {path} its header line. {wrong}"
            ) from wrong
        except UNREADABLE as unreadable:
            error = unreadable
    if error is None:
        return writer.staged()
    return writer.staged(
        f"Shard {shard!r} cannot be read to its end ({error}): replace {path} with an intact copy."
    )


class _UntilBroken:
    """Batches up to where the file cannot be read any more; `error` is why, None at its end."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self._batches
        except UNREADABLE as error:
            self.error = error


def _others(batches: Iterable[pa.RecordBatch], writer: StagedWriter) -> Iterator[tuple[int, bytes]]:
    """Write the plain rows; yield the lines that are none, in order."""
    for rows, others in _ahead(batches):
        writer.write_plain(rows)
        for line in others.to_pylist():
            yield line["number"], line["bytes"] if line["text"] is None else line["text"].encode()


def _ahead(batches: Iterable[pa.RecordBatch]) -> Iterator[Read]:
    """The plain rows and the others of each batch; the next ones are read meanwhile."""
    with ThreadPoolExecutor(BATCHES_AHEAD) as pool:
        waiting: deque[Future[Read]] = deque()
        for batch in batches:
            waiting.append(pool.submit(plain_rows, batch))
            if len(waiting) > BATCHES_AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
