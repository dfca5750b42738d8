"""A text file's lines with their numbers, as Arrow batches, in constant memory.

What belongs here: splitting bytes into lines. DuckDB's CSV reader takes every carriage return for a
line end and does not number the rows that it accepts, so it cannot say in which line an error is
(docs/decisions/0012). What does not: parsing a line (`resources/corpus/plain_rows.py`).
"""

from collections.abc import Iterator
from io import BufferedIOBase

import numpy as np
import pyarrow as pa

from methods.ingest.wit import MAX_LINE_BYTES

BLOCK_BYTES = 4 << 20
SCHEMA = pa.schema([("number", pa.int64()), ("text", pa.string()), ("bytes", pa.binary())])


def line_batches(file: BufferedIOBase, first_number: int) -> Iterator[pa.RecordBatch]:
    """Batches of SCHEMA: each line with its line feed, as `text`, or as `bytes` if it is not UTF-8.

    A line over MAX_LINE_BYTES is cut, to a length that is still over it.
    """
    number = first_number
    for block, ends in _blocks(file):
        offsets = np.zeros(len(ends) + 1, np.int32)
        offsets[1:] = ends
        lines = pa.Array.from_buffers(pa.binary(), len(ends), [None, pa.py_buffer(offsets), block])
        numbers = pa.array(np.arange(number, number + len(lines)))
        yield pa.RecordBatch.from_arrays([numbers, *_decoded(lines)], schema=SCHEMA)
        number += len(lines)


def _blocks(file: BufferedIOBase) -> Iterator[tuple[pa.Buffer, np.ndarray]]:
    """Whole lines, about BLOCK_BYTES at a time, and the place behind each line feed."""
    rest = np.empty(0, np.uint8)
    longest_rest = max(BLOCK_BYTES, MAX_LINE_BYTES + 2)
    is_end = np.empty(longest_rest + BLOCK_BYTES, bool)
    while True:
        # Arrow gives out the same memory again; Python would take new memory for each block.
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
    """Fill the space as far as the file goes; the number of bytes, 0 at its end.

    Where it cannot be read any more, what came before is given first.
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
    """The lines that are UTF-8, as text, and the others, as bytes."""
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
