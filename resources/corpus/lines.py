"""A text file's lines with their numbers, as Arrow batches, in constant memory.

What belongs here: splitting bytes into lines. DuckDB's CSV reader takes every carriage return for a
line end and does not number the rows that it accepts, so it cannot say in which line an error is
(docs/decisions/0012). What does not: parsing a line (`resources/corpus/plain_rows.py`).
"""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from methods.ingest.wit import MAX_LINE_BYTES

BLOCK_BYTES = 2 << 20
SCHEMA = pa.schema([("number", pa.int64()), ("text", pa.string()), ("bytes", pa.binary())])


def line_batches(file: BinaryIO, first_number: int) -> Iterator[pa.RecordBatch]:
    """Batches of SCHEMA: each line with its line feed, as `text`, or as `bytes` if it is not UTF-8.

    A line over MAX_LINE_BYTES is cut, to a length that is still over it.
    """
    number = first_number
    for block in _blocks(file):
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")).astype(np.int32) + 1
        offsets = np.concatenate([np.zeros(1, np.int32), ends])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block)]
        lines = pa.Array.from_buffers(pa.binary(), len(ends), buffers)
        numbers = pa.array(np.arange(number, number + len(lines)))
        yield pa.RecordBatch.from_arrays([numbers, *_decoded(lines)], schema=SCHEMA)
        number += len(lines)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Whole lines, about BLOCK_BYTES at a time."""
    rest = b""
    while chunk := file.read(BLOCK_BYTES):
        end = chunk.rfind(b"\n") + 1
        if end == 0:
            rest = (rest + chunk)[: MAX_LINE_BYTES + 2]
        else:
            yield rest + chunk[:end]
            rest = chunk[end:]
    if rest:
        yield rest + b"\n"


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
