"""Tables and lists of published files: rows of a TSV, records of JSON, and lists and images in cells.

A cell that holds a Python list is parsed as a literal and never evaluated.
"""

import ast
import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from methods.delimited import MOST_CELL, DelimitedError, Quoting, csv_line, rows_of
from methods.evaluation.published import BrokenImage, PublishedError, PublishedItem
from methods.json_text import DuplicateKeyError, from_json, is_unicode
from methods.spreadsheet_cells import unmarked_rows

IMAGES = ("image", "image_path")
"""Columns of a TSV for the images of a row; a table has at least one of them."""

MOST_TEXTS = 10_000
"""Limit of the texts of a list in a cell, such as the images of an item."""
_TEXT = r"""(?:'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+")\s*+"""
_LIST = re.compile(
    rf"\s*+\[\s*+(?:{_TEXT},\s*+){{0,{MOST_TEXTS - 1}}}+(?:{_TEXT},?+\s*+)?\]\s*+", re.DOTALL
)
"""A Python list of texts. Python needs up to a kilobyte for each value or operator that it parses, so
only such a list is parsed."""
_DATA = "data:"
_OF_URLS = str.maketrans("-_", "+/")

ReadItems = Callable[[Iterable[str]], Iterator[PublishedItem]]


# --- Writing ---------------------------------------------------------------------------------------


def tsv_line(cells: Iterable[object]) -> str:
    """Write one line of a TSV, with every cell in quotes."""
    return csv_line(cells, "\t", quote_all=True)


def encode_image(image: bytes) -> str:
    """Encode an image in base64 for a cell."""
    return base64.b64encode(image).decode()


def images_as_cell(
    images: Sequence[str | bytes], picture: Callable[[str], bytes], *, always_list: bool
) -> str:
    """Write the images of an item as a cell in base64.

    Args:
        images: The bytes or paths of the images.
        picture: Gives the bytes of an image by its path.
        always_list: Whether a single image is also written as a list.

    Returns:
        The base64 text, or a Python list of texts.
    """
    data = [encode_image(image if isinstance(image, bytes) else picture(image)) for image in images]
    return repr(data) if always_list or len(data) > 1 else "".join(data)


# --- Reading ---------------------------------------------------------------------------------------


def items_by_ending(
    benchmark: str, name: str, lines: Iterable[str], readers: Mapping[str, ReadItems]
) -> Iterator[PublishedItem]:
    """Read the items of a published file by the reader for its extension.

    The rows of a `.parquet` file are passed as lines of a TSV.

    Args:
        benchmark: The name of the benchmark, for messages.
        name: The name of the file.
        lines: The lines of the file.
        readers: The reader of each extension, such as `json` or `tsv`.

    Yields:
        The items.

    Raises:
        PublishedError: The extension has no reader, there are no records, or two have the same id.
    """
    ending = name.lower().rpartition(".")[2].replace("parquet", "tsv")
    if ending not in readers:
        endings_read = [*readers, *(["parquet"] if "tsv" in readers else [])]
        endings = " nor a ".join(f".{ending}" for ending in endings_read)
        neither = "no" if len(endings_read) == 1 else "neither a"
        raise PublishedError(f"it is {neither} {endings}, as which {benchmark} is published")
    item_ids: set[str] = set()
    for item in readers[ending](lines):
        if item.item_id in item_ids:
            raise PublishedError(f"two records have the id {shortened_id(item.item_id)}")
        item_ids.add(item.item_id)
        yield item
    if not item_ids:
        raise PublishedError("it has no records")


def tsv_rows(lines: Iterable[str], columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Read the rows of a TSV. Every cell is a text, including "None" and "NA".

    Args:
        lines: The lines of the file, its header first.
        columns: The columns that are needed.

    Yields:
        The name of a row for messages, and its cells by column.

    Raises:
        PublishedError: One of `columns` or the images are missing, a row has more or fewer cells than
            there are columns, or a quote runs over several rows (`methods/delimited.py`).
    """
    rows = unmarked_rows(row.cells for row in rows_of(lines, "\t"))
    try:
        header = next(rows, [])
        missing = [name for name in columns if name not in header]
        if not set(IMAGES) & set(header):
            missing.append(IMAGES[0])
        if missing:
            raise PublishedError(f"it has no column {missing[0]}")
        if len(set(header)) < len(header):
            raise PublishedError("two of its columns have the same name")
        for number, cells in enumerate(filter(None, rows), start=1):
            if len(cells) != len(header):
                raise PublishedError(
                    f"record {number} has {len(cells)} columns instead of {len(header)}"
                )
            yield f"record {number}", dict(zip(header, cells, strict=True))
    except DelimitedError as error:
        raise PublishedError(str(error)) from None


def quote_all_cells(lines: Iterable[str], delimiter: str, quoting: Quoting) -> Iterator[str]:
    """Rewrite a text so that every cell is in quotes and each row on one line.

    Args:
        lines: The lines of the text.
        delimiter: The character between cells.
        quoting: How the text is quoted.

    Yields:
        The lines.

    Raises:
        PublishedError: The text is not a table.
    """
    try:
        for row in rows_of(lines, delimiter, quoting):
            yield csv_line(row.cells, delimiter, quote_all=True)
    except DelimitedError as error:
        raise PublishedError(str(error)) from None


def json_records(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read the records of a JSON file, each with its place. Raises PublishedError unless it is a list
    of mappings.
    """
    try:
        records = from_json(text, most=None, unambiguous=True)
    except DuplicateKeyError as error:
        raise PublishedError(f"in an object {error}: leave one") from None
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise PublishedError(f"it is not valid JSON{where}") from None
    if not isinstance(records, list):
        raise PublishedError("it is not a list of records")
    for number, record in enumerate(records, start=1):
        where = f"record {number}"
        if not isinstance(record, dict):
            raise PublishedError(f"{where} is not a mapping")
        yield where, record


def list_of_texts(where: str, column: str, cell: str, most: int = MOST_CELL) -> list[str]:
    """Read a cell that is a Python list of texts.

    Args:
        where: The row, for messages.
        column: The column, for messages.
        cell: The cell.
        most: The largest number of characters of the cell.

    Returns:
        The texts.

    Raises:
        PublishedError: The cell is too long, or not a list of at most `MOST_TEXTS` texts.
    """
    if len(cell) > most:
        raise PublishedError(f"{where} has more than {most:,} characters in its column {column}")
    texts: list[str] | None = None
    if _LIST.fullmatch(cell):
        with suppress(ValueError, SyntaxError):
            texts = ast.literal_eval(cell)
    if texts is None:
        raise PublishedError(f"{where}: its {column} is not a list of at most {MOST_TEXTS:,} texts")
    return texts


def texts_of(where: str, column: str, value: Any) -> list[str]:
    """Check that a value is a list of texts.

    Args:
        where: The row, for messages.
        column: The column, for messages.
        value: The value.

    Returns:
        The list.

    Raises:
        PublishedError: It is not a list of texts.
    """
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise PublishedError(f"{where}: its {column} is not a list of texts")
    return value


def labels_of(row: Mapping[str, str], form: Sequence[str]) -> dict[str, str]:
    """Read the labels of a row: the non-empty columns that do not belong to the file format.

    A column without a name is the row number of a table.
    """
    return {name: text for name, text in row.items() if name.strip() and name not in form and text}


def require_unicode(where: str, texts: Iterable[str]) -> None:
    """Raise PublishedError if a text has half a character, which no table can store."""
    if not all(map(is_unicode, texts)):
        raise PublishedError(f"{where} has a text with half a character (a lone surrogate)")


def is_data_url(image: str) -> bool:
    """Whether a text is a data URL, which contains the image, and not a path."""
    return image[: len(_DATA)].lower() == _DATA


def decode_image(image: str) -> bytes | BrokenImage:
    """Decode an image in base64 or in a data URL.

    The base64 may have the URL-safe alphabet, no padding, and line breaks.
    """
    if is_data_url(image):
        head, _, image = image.partition(",")
        if not head.lower().endswith(";base64"):
            return BrokenImage("not_base64", "it is a data URL without base64")
        image = unquote(image)
    text = "".join(image.split()).translate(_OF_URLS).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return BrokenImage("not_base64", "it is not base64")


def shortened_id(item_id: str) -> str:
    """Shorten an id for a message."""
    return ascii(item_id[:80])
