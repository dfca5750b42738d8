"""Convert between Parquet and TSV for published benchmark files.

Benchmarks only read and write TSV lines, and know the meaning of the columns
(`methods/<benchmark>/published.py`).
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from methods.delimited import rows_of
from methods.evaluation.cells import ImageCells, image_cells, text_of
from methods.evaluation.published import PublishedError
from methods.evaluation.published_tables import IMAGES, tsv_line
from resources.files.bounded import MOST_ROWS, open_file, unpacked_limit
from resources.files.parquet_records import open_parquet, read_records

if TYPE_CHECKING:
    import pyarrow as pa

ENDING = ".parquet"
INDEX = "index"
"""The only column of numbers; all others are texts."""
MOST_CELLS = 10_000_000
"""The most cells of a file that is read; a struct has a cell for each field. Records are decoded one at
a time, which takes about 10 µs a cell, and a column of nulls takes no bytes.
"""
_EMPTY = sys.getsizeof("")
"""The bytes of an empty text. They do not count: most cells of a wide table may be empty."""
GROUP_CHARACTERS = 32_000_000
"""A row group is written as soon as its texts exceed this number of characters."""


def tsv_lines_of(file: Path) -> Iterator[str]:
    """Read a Parquet file as lines of a TSV, with one Parquet page at a time in memory.

    An image may be base64, bytes, a struct of bytes and path as in Hugging Face datasets, or a list of
    these. Nulls become empty cells, and so does the text "nan" next to structs, which pandas writes for
    missing values.

    Raises:
        PublishedError: The file is not Parquet, is truncated or damaged, or its texts take too much
            memory.
    """
    import pyarrow as pa

    most_bytes = unpacked_limit(file.stat().st_size)
    with open_file(file) as data:
        try:
            table = open_parquet(data)
            if table.metadata.num_rows > MOST_ROWS:
                raise PublishedError(f"it has more than {MOST_ROWS:,} records")
            names = table.schema_arrow.names
            if table.metadata.num_rows * table.metadata.num_columns > MOST_CELLS:
                raise PublishedError(f"it has more than {MOST_CELLS:,} cells")
            image, image_path = IMAGES
            # An image that is a struct may consist of only a path.
            added = [image_path] if image in names and image_path not in names else []
            yield tsv_line([*names, *added])
            missing = {"nan"} if _has_structs(table.schema_arrow, image) else set()
            n_text_bytes = 0
            for number, batch in enumerate(read_records(data, table, most_bytes), start=1):
                values = [column[0].as_py() for column in batch.columns]
                cells = _cells(f"record {number}", [*names, *added], values)
                n_text_bytes += sum(sys.getsizeof(cell) - _EMPTY for cell in cells)
                if n_text_bytes > most_bytes:
                    raise PublishedError(
                        f"its records have more than {most_bytes:,} bytes as texts"
                    )
                yield tsv_line(["" if cell in missing else cell for cell in cells])
        # OverflowError, KeyError: a time after the year 9999 or in an unknown zone.
        except (pa.ArrowException, OSError, EOFError, OverflowError, KeyError) as error:
            if isinstance(error, OSError) and error.strerror:
                raise
            raise PublishedError(
                "it is not a Parquet file, or one that is cut off or damaged"
            ) from None


def _has_structs(schema: "pa.Schema", name: str) -> bool:
    import pyarrow as pa

    if name not in schema.names:
        return False
    kind = schema.types[schema.names.index(name)]
    several = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return pa.types.is_struct(kind.value_type if several else kind)


def _cells(where: str, names: list[str], values: list[object]) -> list[str]:
    """Make the cells of a row. The path of an image fills an empty cell in the column of paths."""
    image, image_path = IMAGES
    pictures = ImageCells()
    cells = []
    for name, value in zip(names, values, strict=False):
        if name == image:
            pictures = image_cells(where, value)
            cells.append(pictures.image)
        else:
            cells.append(text_of(value))
    cells += [""] * (len(names) - len(cells))
    if pictures.image_path:
        place = names.index(image_path)
        cells[place] = cells[place] or pictures.image_path
    return cells


def write_table(lines: Iterable[str], file: Path) -> None:
    """Write a TSV as a Parquet file, line by line.

    The column `index` is a number; an empty cell is null. The file has only the cells: no statistics,
    and no metadata of a tool.

    Args:
        lines: The lines of the TSV, its header first.
        file: The file to write.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = (row.cells for row in rows_of(lines, "\t", "csv"))
    names = next(rows)
    schema = pa.schema([(name, pa.int64() if name == INDEX else pa.string()) for name in names])
    with pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
    ) as writer:
        for group in _groups(rows):
            columns = [
                [_value(name, cell) for cell in column]
                for name, column in zip(names, zip(*group, strict=True), strict=True)
            ]
            writer.write_table(pa.table(columns, schema=schema))


def _groups(rows: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """Yield the rows in groups of about GROUP_CHARACTERS."""
    group: list[list[str]] = []
    size = 0
    for row in rows:
        group.append(row)
        size += sum(map(len, row))
        if size > GROUP_CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _value(name: str, cell: str) -> str | int | None:
    if not cell:
        return None
    return int(cell) if name == INDEX else cell
