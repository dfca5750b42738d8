"""Read the memory sizes of a Parquet file's columns and pages from its footer and page headers.

A reader allocates the size in the page header. If it differs from that in the footer, a file of
kilobytes may take gigabytes. Footers are read here, too, since pyarrow ends the process if it is asked
for a column of a damaged one. Both are structs in Thrift's compact protocol
(https://github.com/apache/parquet-format, `FileMetaData` and `PageHeader`).
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, TypeAlias

UNCOMPRESSED, COMPRESSED = 2, 3
"""Ids of the header fields with the bytes of the page in memory and in the file."""
DATA, N_VALUES = (5, 8), 1
"""Ids of the header fields that describe a data page of version 1 or 2, and the id of the field in
these that counts the values."""
ROW_GROUPS, COLUMNS, N_ROWS, DESCRIPTION = 4, 1, 3, 3
"""Ids of the footer's fields: row groups, and in these the columns, the number of rows, and in a column
its description."""
PATH, VALUES, UNPACKED, PACKED, FIRST_PAGE, DICTIONARY = 3, 5, 6, 7, 9, 11
"""Ids of the fields of a column's description."""
MOST_NESTED = 10
MOST_FOOTER = 32_000_000
"""The most bytes of a footer."""
MOST_TEXT = 1_000_000
"""The most bytes of a text that is read; longer ones are skipped."""
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 7, 8, 9, 12
NUMBERS = (4, 5, 6)
"""Type codes of the protocol. NUMBERS are integers of 16, 32 and 64 bits."""


Fields: TypeAlias = dict[int, Any]
"""The fields of a struct by their ids: numbers, texts (bytes), lists and structs."""


class PageHeaderError(OSError):
    """The footer or the header of a page is damaged."""


@dataclass(frozen=True)
class Chunk:
    """A column of a row group according to the footer. Names of attributes are those of pyarrow."""

    column: str
    """The name of the column, without the names of its parts."""
    num_values: int
    total_uncompressed_size: int
    total_compressed_size: int
    data_page_offset: int
    dictionary_page_offset: int | None


@dataclass(frozen=True)
class RowGroup:
    """A row group according to the footer."""

    num_rows: int
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Page:
    """The sizes of a Parquet page according to its header."""

    n_bytes: int
    """The uncompressed size in bytes."""
    n_values: int
    """The number of values in a data page; 0 for a dictionary page."""


def row_groups_of(file: IO[bytes]) -> list[RowGroup]:
    """Read the row groups of the footer.

    Args:
        file: The Parquet file; its position changes.

    Returns:
        The row groups.

    Raises:
        PageHeaderError: The footer is damaged or too large.
    """
    # The footer is followed by its size, and by four letters.
    end = file.seek(-8, io.SEEK_END)
    size = int.from_bytes(file.read(4), "little")
    if size > min(end, MOST_FOOTER):
        raise PageHeaderError(f"the footer has more than {MOST_FOOTER:,} bytes, or is cut off")
    file.seek(end - size)
    footer = _struct(io.BytesIO(file.read(size)), has_lists=True)
    try:
        return [
            RowGroup(group[N_ROWS], tuple(_chunk(column[DESCRIPTION]) for column in group[COLUMNS]))
            for group in footer[ROW_GROUPS]
        ]
    except (KeyError, TypeError, IndexError, UnicodeDecodeError):
        raise PageHeaderError("the footer does not describe every column") from None


def _chunk(fields: Fields) -> Chunk:
    return Chunk(
        column=fields[PATH][0].decode(),
        num_values=fields[VALUES],
        total_uncompressed_size=fields[UNPACKED],
        total_compressed_size=fields[PACKED],
        data_page_offset=fields[FIRST_PAGE],
        dictionary_page_offset=fields.get(DICTIONARY),
    )


def pages_of(file: IO[bytes], chunk: Chunk) -> Iterator[Page]:
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
        page = Page(n_bytes, n_values if isinstance(n_values, int) else 0)
        start = file.tell() + n_packed
        n_left -= page.n_values
        yield page


def _struct(file: IO[bytes], depth: int = 0, *, has_lists: bool = False) -> Fields:
    """Read a struct. Returns its fields by their ids. Page headers have no lists."""
    fields: Fields = {}
    field_id = 0
    while (head := _byte(file)) != 0:
        added, kind = head >> 4, head & 15
        field_id = field_id + added if added else _signed(file)
        if kind in (TRUE, FALSE):
            # The type of a truth value in a struct is the value.
            fields[field_id] = kind == TRUE
        else:
            fields[field_id] = _value(file, kind, depth, has_lists)
    return fields


def _value(file: IO[bytes], kind: int, depth: int, has_lists: bool) -> Any:
    if depth > MOST_NESTED:
        raise PageHeaderError("the header of a page is nested too deep")
    if kind in NUMBERS:
        return _signed(file)
    if kind == STRUCT:
        return _struct(file, depth + 1, has_lists=has_lists)
    if kind == BINARY:
        size = _unsigned(file)
        if size <= MOST_TEXT:
            return file.read(size)
        file.seek(size, 1)
        return b""
    if kind == LIST and has_lists:
        head = _byte(file)
        size = _unsigned(file) if head >> 4 == 15 else head >> 4
        return [_value(file, head & 15, depth + 1, has_lists) for _ in range(size)]
    if kind in (TRUE, FALSE, BYTE):
        return _byte(file)
    if kind == DOUBLE:
        return file.read(8)
    raise PageHeaderError(f"the header of a page has a field of type {kind}")


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
