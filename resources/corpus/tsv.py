"""Read WIT shards: tab-separated text, compressed or not.

Lines that are plain rows (`plain_rows`) are parsed quickly, column by column. All other lines are
parsed one by one by `methods/ingest/wit_records.py`, which also gives the reason of a rejection.
"""

import gzip
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from io import BufferedIOBase
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from isal import igzip_threaded, isal_zlib

from methods.ingest.wit import (
    BLANK,
    BOOLEANS,
    COLUMNS,
    EDGES,
    INTEGERS,
    MAX_LINE_BYTES,
    REQUIRED,
    TRIMMED,
    URLS,
    require_header,
)
from methods.ingest.wit_records import parse_records
from resources.corpus.settings import CorpusError
from resources.corpus.shard import FileShard
from resources.corpus.staging import StagedShard, StagedWriter
from resources.files.bounded import unpacked_limit

BLOCK_BYTES = 2 << 20
LINES_AT_ONCE = 20_000
"""The most lines of a batch: a block of WIT has about 2,000 lines, but a block of
empty lines has two million."""
SCHEMA = pa.schema([("number", pa.int64()), ("text", pa.string()), ("bytes", pa.binary())])


def line_batches(file: BufferedIOBase, first_number: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of SCHEMA: each line with its line feed, as `text`, or as `bytes` if it is not
    UTF-8.

    A line that is longer than MAX_LINE_BYTES is cut to a length that still exceeds MAX_LINE_BYTES.
    """
    number = first_number
    for block, ends in _blocks(file):
        offsets = np.zeros(len(ends) + 1, np.int32)
        offsets[1:] = ends
        lines = pa.Array.from_buffers(pa.binary(), len(ends), [None, pa.py_buffer(offsets), block])
        for start in range(0, len(lines), LINES_AT_ONCE):
            some = lines.slice(start, LINES_AT_ONCE)
            numbers = pa.array(np.arange(number, number + len(some)))
            yield pa.RecordBatch.from_arrays([numbers, *_decoded(some)], schema=SCHEMA)
            number += len(some)


def _blocks(file: BufferedIOBase) -> Iterator[tuple[pa.Buffer, np.ndarray]]:
    """Yield blocks of whole lines of about BLOCK_BYTES, with the position after each line feed."""
    rest = np.empty(0, np.uint8)
    longest_rest = max(BLOCK_BYTES, MAX_LINE_BYTES + 2)
    is_end = np.empty(longest_rest + BLOCK_BYTES, bool)
    while True:
        # Arrow reuses the same memory; Python would allocate new memory for each block.
        block = pa.allocate_buffer(len(rest) + BLOCK_BYTES)
        content = np.frombuffer(block, np.uint8)
        content[: len(rest)] = rest
        n_read = _read_into(file, memoryview(block).cast("B")[len(rest) :])
        if not n_read:
            break
        content = content[: len(rest) + n_read]
        ends = np.flatnonzero(np.equal(content, ord("\n"), out=is_end[: len(content)])) + 1
        if len(ends):
            yield block, ends
            rest = content[ends[-1] :].copy()
        else:
            rest = content[: MAX_LINE_BYTES + 2].copy()
    if len(rest):
        last = np.append(rest, np.uint8(ord("\n")))
        yield pa.py_buffer(last), np.array([len(last)])


def _read_into(file: BufferedIOBase, space: memoryview) -> int:
    """Fill the space from the file. Returns the number of bytes, 0 at the end of the file.

    If reading fails, the bytes before the error are returned; the next call raises the error.
    """
    n_read = 0
    while n_read < len(space):
        try:
            n_more = file.readinto1(space[n_read:])
        except Exception:
            # The next call fails again.
            if not n_read:
                raise
            break
        if not n_more:
            break
        n_read += n_more
    return n_read


def _decoded(lines: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Split lines into an array of texts (valid UTF-8) and an array of bytes (all others)."""
    try:
        return lines.cast(pa.string()), pa.nulls(len(lines), pa.binary())
    except pa.ArrowInvalid:
        texts: list[str | None] = []
        stray: list[bytes | None] = []
        for line in lines.to_pylist():
            try:
                texts.append(line.decode())
                stray.append(None)
            except UnicodeDecodeError:
                texts.append(None)
                stray.append(line)
        return pa.array(texts, pa.string()), pa.array(stray, pa.binary())


_QUOTED = r'\A"(?:[^"]|"")*"\z'
"""A field in quotes, with doubled quotes inside."""
_MOST_DIGITS = 9
_TRUTHS = ["true", "false", None]
"""A list, not an Arrow array: creating an array on import would import pandas."""
_ADDRESS = r"\Ahttps?://[A-Za-z0-9.-]+(:[0-9]{1,4})?(/[!->@-~]*)?\z"
"""An address without a query. A query may contain a secret, so such an address is not plain."""

_KINDS = {
    **dict.fromkeys(TRIMMED, "title"),
    **dict.fromkeys(URLS, "address"),
    **dict.fromkeys(INTEGERS, "size"),
    **dict.fromkeys(BOOLEANS, "truth"),
}
_GROUPS = [
    (kind, tuple(names)) for kind, names in groupby(COLUMNS, lambda name: _KINDS.get(name, "text"))
]
"""Adjacent columns of one kind. They are checked in one call, as each call of Arrow releases and
takes the interpreter's lock."""


def plain_rows(lines: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Split a batch of `line_batches` into plain rows and all other lines.

    A row is plain if each field has a simple, valid value. Plain rows have the columns `line_number`
    and COLUMNS; the other lines are unchanged.
    """
    places, fields = _fields(_without_end(lines["text"]))
    begins = accumulate((len(names) * len(places) for _, names in _GROUPS), initial=0)
    groups = [
        _cleaned(kind, fields.slice(begin, len(names) * len(places)))
        for (kind, names), begin in zip(_GROUPS, begins, strict=False)
    ]
    plain = np.ones(len(places), bool)
    for (kind, names), values in zip(_GROUPS, groups, strict=True):
        plain &= _are_plain(kind, values).reshape(len(names), -1).all(axis=0)
        for place in [names.index(name) for name in REQUIRED if name in names]:
            plain &= np.asarray(values.slice(place * len(plain), len(plain)).is_valid())
    if not plain.all():
        groups = [
            values.filter(pa.array(np.tile(plain, len(names))))
            for (_, names), values in zip(_GROUPS, groups, strict=True)
        ]
        places = places[plain]
    columns = {"line_number": lines["number"].take(pa.array(places))}
    for (kind, names), values in zip(_GROUPS, groups, strict=True):
        typed = _typed(kind, values)
        for place, name in enumerate(names):
            columns[name] = typed.slice(place * len(places), len(places))
    others = np.delete(np.arange(len(lines)), places)
    return pa.RecordBatch.from_pydict(columns), lines.take(pa.array(others))


def _without_end(texts: pa.StringArray) -> pa.StringArray:
    """Remove LF or CR LF from the ends of lines."""
    texts = pc.utf8_rtrim(texts, "\n")
    ended = pc.ends_with(texts, "\r")
    if not pc.any(ended).as_py():
        return texts
    return pc.if_else(ended, pc.utf8_slice_codeunits(texts, 0, -1), texts)


def _fields(texts: pa.StringArray) -> tuple[np.ndarray, pa.StringArray]:
    """Split lines into fields. Returns the indexes of the lines with the right number of fields, and
    their fields, column after column.

    The fields are unquoted, and NULL if blank. Lines with an unclosed quote and
    too long lines are left out.
    """
    lists = pc.split_pattern(texts, "\t")
    fields, unclosed = _unquoted(lists.values)
    begins = np.asarray(lists.offsets)
    whole = np.diff(begins) == len(COLUMNS)
    whole &= np.asarray(pc.fill_null(pc.binary_length(texts), 0)) < MAX_LINE_BYTES
    whole[np.searchsorted(begins, unclosed, "right") - 1] = False
    places = np.flatnonzero(whole)
    chosen = np.add.outer(np.arange(len(COLUMNS), dtype=np.int32), begins[places])
    return places, fields.take(pa.array(chosen.ravel()))


def _unquoted(fields: pa.StringArray) -> tuple[pa.StringArray, np.ndarray]:
    """Unquote fields; NULL if blank. Returns them with the indexes of fields with an unclosed quote."""
    _, offsets, content = fields.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(fields) + 1)
    odd = bounds[:-1] == bounds[1:]
    # Most fields need no check: only blank characters, '!' and '"' sort before '#'.
    if not odd.all():
        odd |= np.frombuffer(content, np.uint8).take(bounds[:-1], mode="clip") < ord("#")
    odd_fields = fields.filter(pa.array(odd))
    closed = pc.match_substring_regex(odd_fields, _QUOTED)
    inner = pc.replace_substring(pc.utf8_slice_codeunits(odd_fields, 1, -1), '""', '"')
    unclosed = pc.and_not(pc.starts_with(odd_fields, '"'), closed)
    texts = _filled(pc.if_else(closed, inner, odd_fields))
    return pc.replace_with_mask(fields, pa.array(odd), texts), np.flatnonzero(odd)[unclosed]


def _filled(texts: pa.StringArray) -> pa.StringArray:
    """Replace blank texts by NULL."""
    return pc.if_else(pc.equal(pc.utf8_trim(texts, BLANK), ""), None, texts)


def _cleaned(kind: str, texts: pa.StringArray) -> pa.StringArray:
    """Normalize fields of a kind before the check: trim titles, lower-case truth values."""
    if kind == "title":
        return _filled(pc.utf8_trim(texts, EDGES))
    return pc.ascii_lower(texts) if kind == "truth" else texts


def _are_plain(kind: str, texts: pa.StringArray) -> np.ndarray:
    """Tell for each field whether it has a plain value of this kind."""
    if kind == "address":
        return np.asarray(pc.fill_null(pc.match_substring_regex(texts, _ADDRESS), False))
    if kind == "size":
        few = pc.less_equal(pc.binary_length(texts), _MOST_DIGITS)
        return np.asarray(pc.fill_null(pc.and_(pc.ascii_is_decimal(texts), few), True))
    if kind == "truth":
        return np.asarray(pc.is_in(texts, pa.array(_TRUTHS)))
    return np.ones(len(texts), bool)


def _typed(kind: str, texts: pa.StringArray) -> pa.Array:
    """Convert fields to their types. A size of 0 pixels means unknown and becomes NULL."""
    if kind == "size":
        sizes = texts.cast(pa.int64())
        return pc.if_else(pc.equal(sizes, 0), None, sizes)
    return pc.equal(texts, "true") if kind == "truth" else texts


# Errors of a damaged file. (isal's stubs declare its error as an instance.)
UNREADABLE = cast(
    "tuple[type[Exception], ...]", (OSError, EOFError, isal_zlib.IsalError, zlib.error)
)

BATCHES_AHEAD = 1

Read = tuple[pa.RecordBatch, pa.RecordBatch]


class TsvShard(FileShard):
    """A file in the format that WIT is published in."""

    def stage(self, folder: Path) -> StagedShard:
        """Stage the lines after the header, as far as the file can be read.

        Each whole line becomes part of a row, or a rejection. Memory does not grow with the file.
        Raises CorpusError if WIT's header is missing, or nothing after the header can be read.
        """
        packed = self.path.name.endswith(".gz")
        # A packed file is unpacked in a separate thread.
        staged = self._staged(folder, igzip_threaded.open if packed else open)
        if staged.broken and packed:
            # The threaded reader loses up to a megabyte before the position where a file breaks off.
            staged = replace(self._staged(folder, gzip.open), broken=staged.broken)
        # Arrow keeps freed memory for reuse; DuckDB needs it now to load the files.
        pa.default_memory_pool().release_unused()
        if staged.broken and not staged.n_rows and not staged.reasons:
            raise CorpusError(staged.broken)
        return staged

    def _staged(self, folder: Path, opened: Callable[[Path, str], Any]) -> StagedShard:
        with StagedWriter(folder, self.name) as writer, ExitStack() as stack:
            try:
                file = stack.enter_context(opened(self.path, "rb"))
                require_header(file.readline(MAX_LINE_BYTES))
            except UNREADABLE as unreadable:
                return writer.staged(self._unreadable(unreadable))
            except ValueError as wrong:
                raise CorpusError(
                    f"Shard {self.name!r} is not in WIT's form: give {self.path} its header line. "
                    f"{wrong}"
                ) from wrong
            batches = _ReadableBatches(self._bounded(line_batches(file, first_number=2)))
            try:
                # An OSError here comes from writing, for example on a full disk.
                writer.write(parse_records(_others(batches, writer)))
            except CorpusError as hopeless:
                return writer.staged(str(hopeless))
            return writer.staged(self._unreadable(batches.error) if batches.error else None)

    def _unreadable(self, error: Exception) -> str:
        return (
            f"Shard {self.name!r} cannot be read to its end ({error}): replace {self.path} with an "
            "intact copy."
        )

    def _bounded(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches. Raises CorpusError if the file unpacks to far more bytes than a
        text would (`unpacked_limit`).
        """
        most = unpacked_limit(self.path.stat().st_size)
        n_bytes = 0
        for batch in batches:
            n_bytes += batch.nbytes
            if n_bytes > most:
                raise CorpusError(
                    f"Shard {self.name!r} is not read further: {self.path} unpacks to over {most:,} "
                    "bytes, far more than a text of its size. Replace it with a file of WIT."
                )
            yield batch


class _ReadableBatches:
    """Batches up to the position where the file cannot be read any more. `error` has the reason; None
    if it was read to its end.
    """

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self._batches
        except UNREADABLE as error:
            self.error = error


def _others(batches: Iterable[pa.RecordBatch], writer: StagedWriter) -> Iterator[tuple[int, bytes]]:
    """Write the plain rows, and yield the number and the bytes of all other lines, in order."""
    for rows, others in _ahead(batches):
        writer.write_plain(rows)
        for line in others.to_pylist():
            yield line["number"], line["bytes"] if line["text"] is None else line["text"].encode()


def _ahead(batches: Iterable[pa.RecordBatch]) -> Iterator[Read]:
    """Yield plain rows and other lines of each batch, while a thread processes the next batch."""
    with ThreadPoolExecutor(BATCHES_AHEAD) as pool:
        waiting: deque[Future[Read]] = deque()
        for batch in batches:
            waiting.append(pool.submit(plain_rows, batch))
            if len(waiting) > BATCHES_AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
