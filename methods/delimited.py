"""Writes rows of CSV and TSV, reads such texts, and detects quotes that swallow rows.

A file that was written without quoting may have a cell that begins with a quote. By the rules of CSV
such a cell goes on to the next quote, however many rows lie between them. This module reads rows by
those rules and refuses a file whose quotes contradict its rows.
"""

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from methods.naming import number_of

Quoting = Literal["checked", "csv", "none"]
QUOTINGS: tuple[Quoting, ...] = ("checked", "csv", "none")
"""How quotes are read: by the rules of CSV, with an error if a quoted cell seems to hold rows of the
table; by the rules of CSV only; as ordinary characters."""
QUOTING_HELP = (
    "How quotes in a CSV or TSV are read: checked refuses a quoted cell that holds rows of the table, "
    "csv takes it as a cell, none takes quotes as characters."
)
_UNQUOTED = "If the file was written without quoting, read it with --quoting none"
_MEANT = f"{_UNQUOTED}; if these lines belong to the cell, with --quoting csv"
MOST_CELL = 100_000_000
"""Limit of one cell, in characters; lists of images or paths are the longest cells."""
MOST_CELLS = 100_000
"""Limit of the cells of a row; spreadsheets have 16,384 columns."""

_KEYS = ("index", "ID", "item_id", "question_id", "id", "item")
"""Names of key columns: the first of these that a table has is its key, or else its first column."""
_SHOWN = 64
"""Characters of a cell that are compared; a longer cell is neither a key nor a number."""
_FEWEST_NUMBERS = 3
"""A column counts as numeric if it has at least this many numbers, and no other texts."""
_WHOLE = re.compile(r"[0-9]+(?:\.0*)?")


class DelimitedError(Exception):
    """A text is not a valid table.

    The message is a clause that names the line; `fact` is the clause without the advice.
    """

    def __init__(self, fact: str, hint: str = _UNQUOTED) -> None:
        super().__init__(f"{fact}. {hint}" if hint else fact)
        self.fact = fact


class TableRow(NamedTuple):
    """The cells of a row, and the number of its first line; a blank line has no cells."""

    line: int
    cells: list[str]


def csv_line(
    cells: Iterable[object], delimiter: str = ",", *, quote_all: bool = False, end: str = "\n"
) -> str:
    """Write a row as CSV or TSV.

    Args:
        cells: The cells; None is empty.
        delimiter: The character between two cells.
        quote_all: Whether every cell is in quotes, or only a cell that a reader would split or change
            without them: one with a delimiter, a quote, a line feed or a carriage return.
        end: The end of the line.
    """
    line = io.StringIO()
    quoting: Literal[0, 1] = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    # Python 3.11 quotes a carriage return or a line feed only if it is in the lineterminator.
    csv.writer(line, delimiter=delimiter, quoting=quoting, lineterminator="\r\n").writerow(cells)
    return line.getvalue().removesuffix("\r\n") + end


def rows_of(
    lines: Iterable[str], delimiter: str, quoting: Quoting = "checked"
) -> Iterator[TableRow]:
    """Yield the rows of a text, the header first.

    A cell with text after its closing quote is kept unchanged, with its quotes: no tool that quotes
    cells writes such a cell.

    Args:
        lines: The text line by line, with the line ends as they are.
        delimiter: The character between two cells.
        quoting: How quotes are read (`QUOTINGS`).

    Raises:
        DelimitedError: The text ends inside quotes; text follows the closing quote of a cell of several
            lines; a cell or row exceeds its limit. With `checked` also if the quotes of a row
            contradict the number of columns, or a quoted cell seems to hold rows of the table (found at
            the end of the text).
    """
    if quoting == "none":
        for number, line in enumerate(lines, start=1):
            _require_few_cells(line.count(delimiter) + 1, number)
            text = line.rstrip("\r\n")
            yield TableRow(number, text.split(delimiter) if text else [])
        return
    reader = _CsvReader(lines, delimiter)
    suspicion: _Suspicion | None = None
    for row, row_lines in reader.rows():
        if quoting == "checked":
            if suspicion is None:
                suspicion = _Suspicion(row.cells, delimiter)
            else:
                suspicion.add(row, row_lines)
        yield row
    if suspicion is not None:
        suspicion.require_none()


def _require_few_cells(n_cells: int, line: int) -> None:
    if n_cells > MOST_CELLS:
        raise DelimitedError(f"line {line} has more than {MOST_CELLS:,} cells", "")


class _CsvReader:
    """Reads rows by the rules of CSV, and keeps track of where quotes open."""

    def __init__(self, lines: Iterable[str], delimiter: str) -> None:
        self._lines = iter(lines)
        self._delimiter = delimiter
        self._number = 0
        self._header: list[str] = []

    def rows(self) -> Iterator[tuple[TableRow, Sequence[str]]]:
        """Yield each row with the lines that it takes up."""
        while (line := self._next()) is not None:
            begin = self._number
            if '"' in line:
                cells, row_lines = self._quoted_row(line)
            else:
                _require_few_cells(line.count(self._delimiter) + 1, begin)
                text, row_lines = line.rstrip("\r\n"), [line]
                cells = text.split(self._delimiter) if text else []
            if not self._header:
                self._header = cells
            if any(len(cell) > MOST_CELL for cell in cells):
                raise DelimitedError(
                    f"a cell of line {begin} has more than {MOST_CELL:,} characters", ""
                )
            yield TableRow(begin, cells), row_lines

    def _next(self) -> str | None:
        line = next(self._lines, None)
        self._number += line is not None
        return line

    def _quoted_row(self, line: str) -> tuple[list[str], list[str]]:
        cells: list[str] = []
        first, row_lines = self._number, [line]
        at = 0
        while True:
            _require_few_cells(len(cells) + 1, first)
            if not line.startswith('"', at):
                end = self._end(line, at)
                cells.append(line[at:end])
            else:
                begin, opened, n_lines = at, self._number, len(row_lines)
                text, line, closed = self._quoted_cell(line, at, len(cells), row_lines)
                end = self._end(line, closed)
                behind = line[closed:end]
                if not behind.strip():
                    cells.append(text + behind)
                elif len(row_lines) == n_lines:
                    cells.append(line[begin:end])
                else:
                    raise DelimitedError(
                        f"the quote that opens on {self._place(opened, len(cells))} closes inside a "
                        f"text on line {self._number}"
                    )
            if not line.startswith(self._delimiter, end):
                return cells, row_lines
            at = end + 1

    def _quoted_cell(
        self, line: str, at: int, column: int, row_lines: list[str]
    ) -> tuple[str, str, int]:
        """Read the quoted cell at `at`: its text, the line in which it ends, and the position after it.

        The further lines of the cell are added to `row_lines`.
        """
        opened = self._number
        parts: list[str] = []
        size = 0
        at += 1
        while True:
            end = line.find('"', at)
            if end >= 0 and not line.startswith('""', end):
                parts.append(line[at:end])
                return "".join(parts), line, end + 1
            if end >= 0:
                parts.append(line[at : end + 1])
                at = end + 2
            else:
                parts.append(line[at:])
                following = self._next()
                if following is None:
                    raise DelimitedError(
                        f"the quote that opens on {self._place(opened, column)} is not closed by the "
                        "end of the file"
                    )
                line, at = following, 0
                row_lines.append(line)
            size += len(parts[-1])
            if size > MOST_CELL:
                raise DelimitedError(
                    f"the quoted cell that opens on {self._place(opened, column)} has more than "
                    f"{MOST_CELL:,} characters"
                )

    def _end(self, line: str, at: int) -> int:
        """The end of the unquoted cell that begins at `at`."""
        end = line.find(self._delimiter, at)
        return end if end >= 0 else max(at, len(line.rstrip("\r\n")))

    def _place(self, line: int, column: int) -> str:
        if column < len(self._header):
            return f"line {line} in the column {ascii(self._header[column][:_SHOWN])}"
        return f"line {line} in column {column + 1}"


class _SwallowedRows(NamedTuple):
    """Lines of one row that each have as many delimiters as a row of the table."""

    line: int
    rows: list[list[str]]


class _KeyFormat(NamedTuple):
    """The properties that the keys of all rows have in common."""

    are_whole: bool
    n_characters: int
    """The length of the longest key."""
    have_digits: bool
    may_have_spaces: bool

    def fits(self, key: str) -> bool:
        """Check whether a text may be a key of the same table."""
        if self.are_whole:
            return _WHOLE.fullmatch(key) is not None
        return (
            len(key) <= self.n_characters + 2
            and (self.may_have_spaces or not re.search(r"\s", key))
            and (not self.have_digits or re.search("[0-9]", key) is not None)
        )


def _key_format(keys: Collection[str]) -> _KeyFormat:
    return _KeyFormat(
        all(map(_WHOLE.fullmatch, keys)),
        max(map(len, keys)),
        all(re.search("[0-9]", key) for key in keys),
        any(re.search(r"\s", key) for key in keys),
    )


class _Suspicion:
    """Finds lines inside quoted cells that are rows of the table.

    Such lines have as many cells as the header, a new key of the same kind as all other keys, and
    numbers in the numeric columns.
    """

    def __init__(self, header: Sequence[str], delimiter: str) -> None:
        self._delimiter = delimiter
        self._width = len(header)
        key = next((name for name in _KEYS if name in header), None)
        self._key = header.index(key) if key else 0
        self._n_rows = 0
        self._keys: set[str] = set()
        self._n_numbers = [0] * len(header)
        self._not_numeric: set[int] = set()
        self._swallowed: list[_SwallowedRows] = []

    def add(self, row: TableRow, row_lines: Sequence[str]) -> None:
        """Add a row below the header. Raises DelimitedError if its quotes contradict its width."""
        if not row.cells:
            return
        if len(row.cells) != self._width and (
            len(row_lines) > 1 or row_lines[0].count(self._delimiter) == self._width - 1
        ):
            lines = f"{len(row_lines)} lines" if len(row_lines) > 1 else f"{self._width} columns"
            raise DelimitedError(
                f"the row that begins on line {row.line} has {len(row.cells)} columns instead of "
                f"{self._width} as its quotes are, and {lines} without them",
                _MEANT,
            )
        if len(row_lines) > 1:
            self._look_into(row.line, row_lines)
        if self._key < len(row.cells):
            self._n_rows += 1
            self._keys.add(row.cells[self._key][:_SHOWN].strip())
        for column, cell in enumerate(row.cells[: self._width]):
            if column in self._not_numeric or not cell or re.search(r"[\r\n]", cell):
                continue
            if _is_number(cell):
                self._n_numbers[column] += 1
            else:
                self._not_numeric.add(column)

    def _look_into(self, line: int, row_lines: Sequence[str]) -> None:
        n_delimiters = [text.count(self._delimiter) for text in row_lines]
        due = self._width - 1
        between = [n for n, text in zip(n_delimiters, row_lines, strict=True) if text.strip()][1:-1]
        if due == 0 or n_delimiters[0] < due or any(n != due for n in between):
            return
        rows = [
            [cell[: _SHOWN + 1].strip('" \r\n') for cell in text.split(self._delimiter)]
            for text, n in zip(row_lines[1:], n_delimiters[1:], strict=True)
            if n == due
        ]
        if rows:
            self._swallowed.append(_SwallowedRows(line, rows))

    def require_none(self) -> None:
        """Raise DelimitedError for the first quoted cell that holds rows of the table."""
        if not self._swallowed:
            return
        key_format = _key_format(self._keys)
        for cell in self._swallowed:
            have_keys = all(self._has_key(row, key_format) for row in cell.rows)
            if have_keys and any(map(self._has_numbers, cell.rows)):
                named = ", ".join(ascii(row[self._key]) for row in cell.rows[:3])
                raise DelimitedError(
                    f"a quote that opens on line {cell.line} takes in rows: what follows in its "
                    f"cell looks like {number_of(len(cell.rows), 'row')} of the table ({named})",
                    _MEANT,
                )

    def _has_key(self, row: Sequence[str], key_format: _KeyFormat) -> bool:
        key = row[self._key]
        if not key or len(key) > _SHOWN:
            return False
        are_unique = len(self._keys) == self._n_rows
        return not (are_unique and key in self._keys) and key_format.fits(key)

    def _has_numbers(self, row: Sequence[str]) -> bool:
        return all(
            not cell or _is_number(cell)
            for column, cell in enumerate(row)
            if column != self._key
            and column not in self._not_numeric
            and self._n_numbers[column] >= _FEWEST_NUMBERS
        )


def _is_number(cell: str) -> bool:
    try:
        float(cell[: _SHOWN + 1])
    except ValueError:
        return False
    return True
