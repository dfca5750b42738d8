"""Read untrusted files of records: spreadsheets, CSV, TSV, JSON and JSON Lines.

A formula is read as its text and is not computed.
"""

import io
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any
from xml.parsers.expat import ExpatError

from methods.delimited import DelimitedError, Quoting, rows_of
from methods.evaluation.cells import FileRow, text_of
from methods.evaluation.published import PublishedError, PublishedTable
from methods.evaluation.published_tables import json_records
from methods.json_text import DuplicateKeyError, from_json, storable
from methods.naming import listed
from methods.spreadsheet_cells import unmarked_rows
from resources.files.bounded import MOST_ROWS, open_file, read, unpacked_limit
from resources.files.xlsx_text import open_workbook, require_small_elements, unescaped

MOST_UNPACKED = 1_000_000_000
"""The most bytes of a spreadsheet or log, unpacked, or of a JSON file."""
MOST_LINE = 100_000_000
"""The most bytes of a line of JSON, which may have images."""
MOST_PART = 20_000_000
"""The most bytes of a part of a spreadsheet that is neither a sheet nor the shared texts, unpacked."""
MOST_CELLS = 20_000_000
"""The most cells of all sheets together. A row with a cell in the last column has 16,384 cells. An
empty row counts as one cell: a sheet may skip to any row number."""
MOST_CHARACTERS = 200_000_000
"""The most characters in the cells of all sheets together."""
_MEDIA = "xl/media/"
"""Images in a spreadsheet, which are not read."""
_STREAMED = ("xl/worksheets/", "xl/sharedStrings")
DELIMITERS = {".tsv": "\t", ".csv": ","}
"""The delimiter of each text format, by the file's extension."""
TABLE_ENDINGS = (".xlsx", *DELIMITERS)
_ENDINGS = (*TABLE_ENDINGS, ".jsonl", ".json")


def read_records(
    file: Path,
    wanted_columns: Collection[str],
    plain: Collection[str],
    meant: Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]] = lambda record: [record],
    quoting: Quoting = "checked",
) -> list[FileRow]:
    """Read the records of a CSV, TSV, JSON, JSON Lines or spreadsheet file.

    Half characters (lone surrogates) are replaced, as nothing can store them.

    Args:
        file: The file.
        wanted_columns: The columns to read.
        plain: Those of them whose values may not be lists or mappings.
        meant: Converts a record of the file to any number of records.
        quoting: How the quotes of a CSV or TSV are read.

    Raises:
        PublishedError: The file cannot be read.
    """
    ending = file.suffix.lower()
    columns: dict[str, None] = {}

    def converted(data: IO[bytes]) -> Iterator[FileRow]:
        for where, cells in _records(ending, data, wanted_columns, quoting):
            columns.update(dict.fromkeys(cells))
            for record in meant(cells) if cells else ():
                yield FileRow(where, _texts(where, record, wanted_columns, plain))

    try:
        with open_file(file) as data:
            rows = limited_rows(converted(data), file.stat().st_size)
    except UnicodeDecodeError as error:
        raise PublishedError(f"it is not UTF-8 ({error.reason})") from None
    except OSError as error:
        raise PublishedError(f"it cannot be read ({error.strerror or error})") from None
    if not rows:
        raise PublishedError("it has no records")
    if not any(row.cells for row in rows):
        raise PublishedError(
            f"it has none of the columns that are read ({listed(sorted(plain))} and others), but "
            f"{listed([repr(name[:60]) for name in columns])}. Correct the header row; a CSV has "
            "commas, and a spreadsheet its records on the first sheet"
        )
    return rows


def limited_rows(rows: Iterable[FileRow], n_bytes: int) -> list[FileRow]:
    """Collect the rows of a file up to MOST_ROWS, and up to a length of their texts.

    A record with millions of turns becomes as many rows, each with the id of the record. Many cells of
    a spreadsheet may have one shared text.

    Args:
        rows: The rows.
        n_bytes: The size of the file.

    Raises:
        PublishedError: There are more rows, or longer texts, than allowed.
    """
    most_characters = unpacked_limit(n_bytes)
    n_characters = 0
    collected: list[FileRow] = []
    for row in rows:
        n_characters += sum(map(len, row.cells.values()))
        if len(collected) == MOST_ROWS:
            raise PublishedError(f"it has more than {MOST_ROWS:,} records")
        if n_characters > most_characters:
            raise PublishedError(f"its records have more than {most_characters:,} characters")
        collected.append(row)
    return collected


def read_tables(file: Path, quoting: Quoting = "checked") -> list[PublishedTable]:
    """Read every table of a file: each sheet of a spreadsheet, or the only table of a CSV or TSV.

    Args:
        file: The file.
        quoting: How the quotes of a CSV or TSV are read.

    Raises:
        PublishedError: The file cannot be read.
    """
    ending = file.suffix.lower()
    try:
        with open_file(file) as data:
            if ending == ".xlsx":
                return [PublishedTable(name, _cells(rows)) for name, rows in _sheets(data)]
            if ending in DELIMITERS:
                rows = _delimited(data, DELIMITERS[ending], quoting)
                return [PublishedTable(file.stem, _cells(rows))]
    except UnicodeDecodeError as error:
        raise PublishedError(f"it is not UTF-8 ({error.reason})") from None
    except OSError as error:
        raise PublishedError(f"it cannot be read ({error.strerror or error})") from None
    raise PublishedError(f"its name ends in none of {', '.join(TABLE_ENDINGS)}")


def _cells(rows: Iterator[list[Any]]) -> list[list[str]]:
    records = []
    for number, row in enumerate(rows, start=1):
        if number > MOST_ROWS:
            raise PublishedError(f"it has more than {MOST_ROWS:,} records")
        records.append([storable(text_of(cell)) for cell in row])
    return list(unmarked_rows(records))


def _records(
    ending: str, data: IO[bytes], wanted_columns: Collection[str], quoting: Quoting
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    match ending:
        case ".xlsx":
            return _of_sheets(data, wanted_columns)
        case ".tsv" | ".csv":
            return _of_table(_delimited(data, DELIMITERS[ending], quoting), wanted_columns)
        case ".jsonl":
            return _of_lines(data)
        case ".json":
            return json_records(read(data, MOST_UNPACKED).decode("utf-8-sig"))
    raise PublishedError(f"its name ends in none of {', '.join(_ENDINGS)}")


def _texts(
    where: str, cells: Mapping[str, Any], wanted_columns: Collection[str], plain: Collection[str]
) -> dict[str, str]:
    texts = {}
    for name, value in cells.items():
        if name not in wanted_columns:
            continue
        if name in plain and isinstance(value, list | dict):
            raise PublishedError(f"{where}: its {name} is not a text")
        texts[name] = storable(text_of(value))
    return texts


# --- Tables ----------------------------------------------------------------------------------------


def _of_table(
    rows: Iterator[list[Any]], wanted_columns: Collection[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows below the header, not filled up to it, as it may have far more columns."""
    header = [text_of(cell).strip() for cell in next(rows, [])]
    named = [name for name in header if name]
    if len(set(named)) < len(named):
        raise PublishedError("two of its columns have the same name")
    empty_cells = dict.fromkeys(set(named).intersection(wanted_columns), "")
    for number, row in enumerate(rows, start=1):
        if number > MOST_ROWS:
            raise PublishedError(f"it has more than {MOST_ROWS:,} records")
        if len(row) > len(header) and any(text_of(cell) for cell in row[len(header) :]):
            raise PublishedError(f"record {number} has more cells than there are columns")
        if any(text_of(cell) for cell in row):
            yield f"record {number}", empty_cells | dict(zip(header, row, strict=False))


def _of_sheets(
    data: IO[bytes], wanted_columns: Collection[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the records of the first sheet. Raises PublishedError if another sheet has cells, too."""
    sheets = _sheets(data)
    first = next(sheets, None)
    if first is None:
        raise PublishedError("it has no sheet")
    yield from _of_table(first[1], wanted_columns)
    for title, others in sheets:
        if any(text_of(cell).strip() for row in others for cell in row):
            raise PublishedError(
                f"its sheet {ascii(title[:60])} has cells, too, but records are only read from "
                "the first sheet: leave one sheet"
            )


def _delimited(data: IO[bytes], delimiter: str, quoting: Quoting) -> Iterator[list[Any]]:
    text = io.TextIOWrapper(data, encoding="utf-8-sig", newline="")
    try:
        for row in rows_of(text, delimiter, quoting):
            yield row.cells
    except DelimitedError as error:
        raise PublishedError(str(error)) from None


def require_small_members(members: Iterable[zipfile.ZipInfo], n_packed: int) -> None:
    """Raise PublishedError if members of an archive unpack to too many bytes.

    Args:
        members: The members that are read.
        n_packed: Their bytes in the archive.
    """
    most = min(MOST_UNPACKED, unpacked_limit(n_packed))
    if sum(member.file_size for member in members) > most:
        raise PublishedError(f"it is more than {most:,} bytes when unpacked")


class _BookSize:
    """Counts the cells of all sheets of a spreadsheet, and the characters of their texts."""

    def __init__(self) -> None:
        self._n_cells = self._n_characters = 0

    def add(self, row: Sequence[Any]) -> None:
        """Count the cells of a row, before they are decoded. Raises PublishedError."""
        self._n_cells += max(1, len(row))
        self._n_characters += sum(len(cell) for cell in row if isinstance(cell, str))
        if self._n_cells > MOST_CELLS:
            raise PublishedError(f"it has more than {MOST_CELLS:,} cells")
        if self._n_characters > MOST_CHARACTERS:
            raise PublishedError(f"its cells have more than {MOST_CHARACTERS:,} characters")


def _sheets(data: IO[bytes]) -> Iterator[tuple[str, Iterator[list[Any]]]]:
    """Yield the name and the rows of each sheet; pandas writes a text `=A` as a formula."""
    try:
        with zipfile.ZipFile(data) as archive:
            for part in archive.infolist():
                # Sheets and shared texts are read piece by piece, all other parts at once.
                if (
                    not part.filename.startswith((_MEDIA, *_STREAMED))
                    and part.file_size > MOST_PART
                ):
                    raise PublishedError(
                        f"its part {ascii(part.filename[:200])} is more than {MOST_PART:,} bytes"
                    )
            parts = [part for part in archive.infolist() if not part.filename.startswith(_MEDIA)]
            require_small_members(parts, sum(part.compress_size for part in parts))
            checked = set()
            n_rich = 0
            for part in parts:
                # A part of any name may be a sheet. A part that is not XML cannot be one.
                with archive.open(part) as xml, suppress(ExpatError):
                    n_rich = require_small_elements(xml, n_rich)
                    checked.add(part.filename)
        book = open_workbook(data, checked)
        size = _BookSize()
        for sheet in book.worksheets:
            # The stated dimensions of a sheet may be wrong.
            sheet.reset_dimensions()
            yield sheet.title, _rows_of(sheet, size)
    except (PublishedError, MemoryError):
        raise
    except Exception:
        # openpyxl may raise any error of zip files, XML or sheets for an untrusted file.
        raise PublishedError("it is not an .xlsx file, or it is damaged") from None


def _rows_of(sheet: Any, size: _BookSize) -> Iterator[list[Any]]:
    try:
        for row in sheet.iter_rows(values_only=True):
            texts = [getattr(cell, "text", cell) for cell in row]
            size.add(texts)
            yield [unescaped(text) for text in texts]
    except (PublishedError, MemoryError):
        raise
    except Exception:
        raise PublishedError("it is not an .xlsx file, or it is damaged") from None


# --- JSON ------------------------------------------------------------------------------------------


def _of_lines(data: IO[bytes]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(iter(lambda: data.readline(MOST_LINE + 1), b""), start=1):
        if len(line) > MOST_LINE:
            raise PublishedError(f"line {number} is longer than {MOST_LINE:,} bytes")
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        if text:
            try:
                record = from_json(text, unambiguous=True)
            except DuplicateKeyError as error:
                raise PublishedError(f"line {number}: in an object {error}: leave one") from None
            except ValueError:
                raise PublishedError(f"line {number} is not valid JSON") from None
            if not isinstance(record, dict):
                raise PublishedError(f"record {number} is not a mapping")
            yield f"record {number}", record
