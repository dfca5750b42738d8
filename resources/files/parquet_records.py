"""Read untrusted Parquet files one record at a time, up to a size.

A file of kilobytes may unpack to gigabytes: one long text that all records or the values of one list
repeat, or lists of millions of nulls. The sizes in its footer may be wrong. So page headers are read
first, then the lists of texts as references to distinct texts, and records are measured as they are
decoded.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from resources.files.bounded import BoundedReadError
from resources.files.limited_process import run_limited
from resources.files.parquet_pages import Page, PageHeaderError, pages_of

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MOST_RECORD_BYTES = 100_000_000
"""The most bytes of a decoded record, including its images. Texts count as Python holds them."""
MOST_WIDTH = 4
"""The most bytes of a character in Python: a text takes as many for each as for its widest one."""
MOST_GROUP_BYTES = 1_000_000_000
"""The most uncompressed bytes of a row group. A page, which may be a whole row group, is decoded at
once."""
MOST_VALUES = 5_000_000
"""The most values of a row group in a column of lists."""
MOST_NAME = 1_000
"""The most characters of the name of a column, with those of its fields: records repeat them."""
VALUE_BYTES = 16
"""The most bytes of a number or an empty text, decoded. Nulls take no bytes in a page."""
READ_BYTES = 1_000_000
"""The read buffer of each column in bytes."""
_WIDE = (r"[^\x{0}-\x{FF}]", r"[^\x{0}-\x{FFFF}]")
"""Characters that take more than one byte in Python, and more than two."""


def open_parquet(file: IO[bytes]) -> "pq.ParquetFile":
    """Open a Parquet file to read its records with `read_records`.

    Raises:
        BoundedReadError: The name of a column is too long.
        ArrowException, OSError: The file is damaged.
    """
    import pyarrow.parquet as pq

    _require_readable_footer(file)
    try:
        # Without pre-buffering, which would read a whole row group: a file may have only one.
        table = pq.ParquetFile(file, pre_buffer=False, buffer_size=READ_BYTES)
        paths = [table.schema.column(place).path for place in range(table.metadata.num_columns)]
    except UnicodeDecodeError:
        raise PageHeaderError("the name of a column is not UTF-8") from None
    if any(len(path) > MOST_NAME for path in paths):
        raise BoundedReadError(
            "oversized_bytes",
            "the name of a column, with those of its fields, has more than "
            f"{MOST_NAME:,} characters: shorten it",
        )
    return table


def _require_readable_footer(file: IO[bytes]) -> None:
    """Raise LimitedProcessError if pyarrow crashes when it is asked for the columns of the footer."""
    # The footer is followed by its size, and by four letters.
    end = file.seek(0, io.SEEK_END)
    file.seek(max(end - 8, 0))
    size = int.from_bytes(file.read(4), "little") + 8
    if size < end:
        file.seek(end - size)
        run_limited(ask_for_columns, b"PAR1" + file.read(size))
    file.seek(0)


def ask_for_columns(footer: bytes) -> bytes:
    """Ask pyarrow for each column of a footer, which may crash."""
    import pyarrow.parquet as pq

    # The caller gets an error when it opens the file.
    with suppress(Exception):
        metadata = pq.read_metadata(io.BytesIO(footer))
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            for place in range(group.num_columns):
                group.column(place)
    return b""


def read_records(
    file: IO[bytes] | None,
    table: "pq.ParquetFile",
    most_bytes: int,
    columns: Sequence[str] | None = None,
    most_record_bytes: int = MOST_RECORD_BYTES,
    batch_size: int = 1,
) -> Iterator["pa.RecordBatch"]:
    """Read the records of a Parquet file.

    Args:
        file: The file, to check its page headers before pages are decoded. None trusts the footer: use
            it for a remote file, which would otherwise be downloaded twice.
        table: The same file, opened by `open_parquet`.
        most_bytes: The most bytes of all decoded records.
        columns: The columns to read; by default all.
        most_record_bytes: The most bytes of a decoded record.
        batch_size: The most records of a batch. More than one is only for checked files whose columns
            are numbers and texts: a value of these is in one page, so a batch has fewer records if
            pages are large.

    Yields:
        Batches; by default of one record.

    Raises:
        BoundedReadError: A record, or all records together, are larger than allowed.
        ArrowException, OSError: The file is damaged.
    """
    largest, lists = _require_small_groups(
        file, table.metadata, columns, most_record_bytes, most_bytes
    )
    if file is not None and lists:
        _require_small_lists(file, table.metadata, lists, most_bytes)
    batch_size = max(1, min(batch_size, most_record_bytes // max(1, largest)))
    n_bytes = n_records = 0
    for batch in table.iter_batches(batch_size=batch_size, columns=columns and list(columns)):
        n_bytes += batch.nbytes
        n_records += batch.num_rows
        n_record_bytes = batch.nbytes
        if batch.num_rows == 1 and MOST_WIDTH * n_record_bytes > most_record_bytes:
            n_record_bytes += sum(map(_n_added_bytes, batch.columns))
        if n_record_bytes > most_record_bytes:
            raise BoundedReadError(
                "oversized_bytes", f"a record has more than {most_record_bytes:,} bytes"
            )
        if n_bytes > most_bytes:
            raise BoundedReadError(
                "oversized_bytes", f"its records have more than {most_bytes:,} bytes, decoded"
            )
        yield batch
    # pyarrow leaves out the rows of some damaged or unusual files without an error.
    if n_records != table.metadata.num_rows:
        raise PageHeaderError(
            f"{n_records} of the {table.metadata.num_rows} records of its footer can be read"
        )


def _require_small_lists(
    file: IO[bytes], metadata: "pq.FileMetaData", lists: Sequence[tuple[int, str]], most_bytes: int
) -> None:
    """Raise BoundedReadError if the texts of lists, each as often as it occurs, are too large.

    Args:
        file: The file.
        metadata: Its footer.
        lists: Row groups and columns with few distinct texts that could be too large.
        most_bytes: The most bytes of all these texts.
    """
    import pyarrow.parquet as pq

    # Batches of one record would copy the distinct texts for each of them.
    paths = list(dict.fromkeys(path for _, path in lists))
    table = pq.ParquetFile(file, metadata=metadata, read_dictionary=paths, pre_buffer=False)
    n_bytes = 0
    for number, path in dict.fromkeys(lists):
        # pyarrow cannot refer to texts of all encodings. Those it then decodes as they are in the page.
        with suppress(NotImplementedError, OSError):
            for column in table.read_row_group(number, [path]).columns:
                n_bytes += column.nbytes + sum(map(_n_decoded_bytes, column.chunks))
        if n_bytes > most_bytes:
            raise BoundedReadError(
                "oversized_bytes", f"its lists have more than {most_bytes:,} bytes, decoded"
            )


def _n_decoded_bytes(values: "pa.Array") -> int:
    """Return the bytes of the texts in an array of references to them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_bytes = 0
    for leaf in _leaves(values):
        if pa.types.is_dictionary(leaf.type):
            lengths = pc.binary_length(leaf.dictionary).cast(pa.int64())
            n_bytes += pc.sum(lengths.take(leaf.indices)).as_py() or 0
    return n_bytes


def _n_added_bytes(values: "pa.Array") -> int:
    """Return the bytes that the texts of an array take in Python in addition to those in UTF-8."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_bytes = 0
    for leaf in _leaves(values):
        texts = leaf.dictionary_decode() if pa.types.is_dictionary(leaf.type) else leaf
        if pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type):
            # A text without characters above U+00FF takes a byte for each, else two or four.
            widths = pc.choose(
                pc.add(
                    *(pc.match_substring_regex(texts, above).cast(pa.int64()) for above in _WIDE)
                ),
                *(1, 2, MOST_WIDTH),
            )
            in_python = pc.multiply(pc.utf8_length(texts), widths)
            added = pc.subtract(in_python, pc.binary_length(texts))
            n_bytes += pc.sum(pc.max_element_wise(added, 0)).as_py() or 0
    return n_bytes


def _leaves(values: "pa.Array") -> Iterator["pa.Array"]:
    """Yield the arrays of values inside nested lists, maps and structs."""
    import pyarrow as pa

    if pa.types.is_struct(values.type):
        parts = values.flatten()
    elif pa.types.is_map(values.type):
        parts = [values.keys, values.items]
    elif pa.types.is_nested(values.type):
        parts = [values.flatten()]
    else:
        yield values
        return
    for part in parts:
        yield from _leaves(part)


def _require_small_groups(
    file: IO[bytes] | None,
    metadata: "pq.FileMetaData",
    columns: Sequence[str] | None,
    most_record_bytes: int,
    most_bytes: int,
) -> tuple[int, list[tuple[int, str]]]:
    """Raise BoundedReadError if the columns to read make a row group too large to be decoded.

    Nulls in a list take no bytes in the file, but take memory. If the mean size of a group's records
    exceeds the limit, at least one record does.

    Columns that share pages are refused: the same pages could be read for thousands of columns.

    Returns:
        The most bytes of a record, which is the sum of the largest page of each column; and row groups
        with columns of lists whose texts would have more than `most_bytes` if all were the longest one.
    """
    largest = 0
    lists = []
    n_left = 0 if file is None else file.seek(0, io.SEEK_END)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        n_bytes = n_record_bytes = 0
        for place in range(group.num_columns):
            chunk, column = group.column(place), metadata.schema.column(place)
            if columns is not None and chunk.path_in_schema.partition(".")[0] not in columns:
                continue
            n_values = n_distinct_bytes = 0
            largest_page = VALUE_BYTES
            stated = Page(chunk.total_uncompressed_size, chunk.num_values, 0)
            for page in [stated] if file is None else pages_of(file, chunk):
                n_left -= page.n_file_bytes
                if n_left < 0:
                    raise PageHeaderError("the pages of the columns take more bytes than the file")
                n_values += page.n_values
                n_distinct_bytes += 0 if page.n_values else page.n_bytes
                n_bytes += page.n_bytes
                largest_page = max(largest_page, page.n_bytes)
                # Texts of a fixed length, too, may be in the file once and in a list many times. So
                # are the names of fields.
                n_name = len(chunk.path_in_schema) if column.max_repetition_level else 0
                n_decoded = max(n_bytes, n_values * max(column.length, n_name))
                _require_small(group.num_rows, n_values, n_decoded, most_record_bytes)
            n_record_bytes += largest_page
            is_text = column.physical_type == "BYTE_ARRAY"
            if column.max_repetition_level and is_text and n_distinct_bytes * n_values > most_bytes:
                lists.append((number, chunk.path_in_schema))
        largest = max(largest, n_record_bytes)
    return largest, lists


def _require_small(n_rows: int, n_values: int, n_bytes: int, most_record_bytes: int) -> None:
    if n_values > max(MOST_VALUES, n_rows):
        raise BoundedReadError(
            "oversized_bytes", f"the lists of a column have more than {MOST_VALUES:,} values"
        )
    if n_bytes > most_record_bytes * max(1, n_rows):
        raise BoundedReadError(
            "oversized_bytes", f"a record has more than {most_record_bytes:,} bytes"
        )
    if n_bytes > MOST_GROUP_BYTES:
        raise BoundedReadError(
            "oversized_bytes",
            f"a row group has more than {MOST_GROUP_BYTES:,} bytes: write the file with smaller "
            "row groups",
        )
