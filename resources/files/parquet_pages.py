"""Read the memory sizes of a Parquet file's pages from the page headers.

The footer has these sizes, too, but a reader allocates the size in the page header. If the two differ,
a file of kilobytes may take gigabytes. Page headers are structs in Thrift's compact protocol
(https://github.com/apache/parquet-format, `PageHeader`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pyarrow.parquet as pq

UNCOMPRESSED, COMPRESSED = 2, 3
"""Ids of the header fields with the bytes of the page in memory and in the file."""
DATA, N_VALUES = (5, 8), 1
"""Ids of the header fields that describe a data page of version 1 or 2, and the id of the field in
these that counts the values."""
MOST_NESTED = 3
MOST_LENGTH = 2**31
"""The most bytes of a text in a header. A larger number is not a position in a file."""
TRUE, FALSE, BYTE, DOUBLE, BINARY, STRUCT = 1, 2, 3, 7, 8, 12
NUMBERS = (4, 5, 6)
"""Type codes of the protocol. NUMBERS are integers of 16, 32 and 64 bits."""


class PageHeaderError(OSError):
    """The header of a page is damaged."""


@dataclass(frozen=True)
class Page:
    """The sizes of a Parquet page according to its header."""

    n_bytes: int
    """The uncompressed size in bytes."""
    n_values: int
    """The number of values in a data page; 0 for a dictionary page."""
    n_file_bytes: int
    """The size in the file in bytes, with the header."""


def pages_of(file: IO[bytes], chunk: "pq.ColumnChunkMetaData") -> Iterator[Page]:
    """Read the headers of the pages of one column in one row group.

    Args:
        file: The Parquet file; its position changes.
        chunk: The position of the column, from the footer.

    Yields:
        The pages, with the dictionary first.

    Raises:
        PageHeaderError: A header is damaged.
    """
    dictionary = chunk.dictionary_page_offset
    start = chunk.data_page_offset
    if dictionary is not None and 0 < dictionary < start:
        start = dictionary
    if start < 0:
        raise PageHeaderError("the footer has a negative position")
    end = start + chunk.total_compressed_size
    n_left = chunk.num_values
    # Like a reader, stop after as many values as the footer states.
    while start < end and n_left > 0:
        file.seek(start)
        header = _struct(file)
        n_bytes, n_packed = header.get(UNCOMPRESSED), header.get(COMPRESSED)
        if (
            not isinstance(n_bytes, int)
            or not isinstance(n_packed, int)
            or min(n_bytes, n_packed) < 0
        ):
            raise PageHeaderError("the header of a page has no sizes")
        described = next((header[kind] for kind in DATA if kind in header), None)
        n_values = described.get(N_VALUES) if isinstance(described, dict) else None
        page_end = file.tell() + n_packed
        page = Page(n_bytes, n_values if isinstance(n_values, int) else 0, page_end - start)
        start = page_end
        n_left -= page.n_values
        yield page


Fields: TypeAlias = "dict[int, int | Fields]"


def _struct(file: IO[bytes], depth: int = 0) -> Fields:
    """Read a struct. Returns its fields that are numbers or structs, by their ids."""
    if depth > MOST_NESTED:
        raise PageHeaderError("the header of a page is nested too deep")
    fields: Fields = {}
    field_id = 0
    while (head := _byte(file)) != 0:
        added, kind = head >> 4, head & 15
        field_id = field_id + added if added else _signed(file)
        if kind in NUMBERS:
            fields[field_id] = _signed(file)
        elif kind == STRUCT:
            fields[field_id] = _struct(file, depth + 1)
        elif kind == BINARY:
            # A text beyond the end of the file is found by the next read.
            file.seek(min(_unsigned(file), MOST_LENGTH), 1)
        elif kind == BYTE:
            file.seek(1, 1)
        elif kind == DOUBLE:
            file.seek(8, 1)
        elif kind not in (TRUE, FALSE):
            raise PageHeaderError(f"the header of a page has a field of type {kind}")
    return fields


def _byte(file: IO[bytes]) -> int:
    byte = file.read(1)
    if not byte:
        raise PageHeaderError("the header of a page is cut off")
    return byte[0]


def _unsigned(file: IO[bytes]) -> int:
    """Read an unsigned varint: groups of seven bits, the lowest first."""
    number = 0
    for shift in range(0, 70, 7):
        digit = _byte(file)
        number |= (digit & 127) << shift
        if digit < 128:
            return number
    raise PageHeaderError("a number in the header of a page has too many digits")


def _signed(file: IO[bytes]) -> int:
    number = _unsigned(file)
    return (number >> 1) ^ -(number & 1)
