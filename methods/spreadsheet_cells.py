"""Protection against formula injection in CSV and TSV files for spreadsheets (CSV injection).

A cell that a spreadsheet would compute as a formula is marked with an apostrophe in front of it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from methods.delimited import csv_line

MARKED = "marked_cells"
"""Name of the last column of a table with marks. It lists the numbers, from 1, of the marked cells of
each row. In the header row, the numbers of its marked cells follow the name."""

_FORMULA = tuple("=+-@\t\r＝＋－＠")
# A spreadsheet that separates cells by semicolons or tabs may find a cell inside a text, also behind a
# line break, as it does not know the quotation marks of a text that does not begin its line.
_INNER_CELL = r"(?<=[;\t\r\n]){}(?=[' \"]*[=+\-@＝＋－＠])"
_UNMARKED_INNER, _MARKED_INNER = (re.compile(_INNER_CELL.format(mark)) for mark in ("", "'"))
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def is_like_formula(text: str) -> bool:
    """Check whether a spreadsheet may compute a text. Leading blanks and apostrophes are ignored."""
    bare = text.lstrip("'")
    return bare.startswith(_FORMULA) or bare.strip().startswith(_FORMULA)


def mark_inner_formulas(text: str) -> str:
    """Insert an apostrophe before each formula that follows a semicolon, tab or line break."""
    return _UNMARKED_INNER.sub("'", text)


def unmark_inner_formulas(text: str) -> str:
    """Remove the apostrophes of `mark_inner_formulas`."""
    return _MARKED_INNER.sub("", text)


def mark_formula(text: str) -> str:
    """Insert an apostrophe before each formula in a cell, so that no spreadsheet computes it."""
    inner = mark_inner_formulas(text)
    return f"'{inner}" if _begins_with_formula(text) else inner


def marked_rows(rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """Mark the formulas in the rows of a table, header first, and add the column `MARKED`."""
    for number, row in enumerate(rows):
        places = [str(place) for place, cell in enumerate(row, start=1) if _must_be_marked(cell)]
        marks = [*([] if number else [MARKED]), *places]
        yield [*map(mark_formula, row), " ".join(marks)]


def csv_file(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> bytes:
    """Write rows as CSV in UTF-8, with marked formulas and a byte order mark, which Excel needs."""
    cells = (["" if row[name] is None else str(row[name]) for name in columns] for row in rows)
    lines = map(csv_line, marked_rows([list(columns), *cells]))
    return "".join(lines).encode("utf-8-sig")


def unmarked_rows(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """Undo `marked_rows`. The rows of a table without the column `MARKED` are returned unchanged."""
    width = None
    for number, row in enumerate(rows):
        if number == 0 and row and row[-1].split()[:1] == [MARKED]:
            width = len(row)
        if len(row) != width:
            yield row
            continue
        *cells, marks = row
        places = set(marks.split())
        yield [
            _unmarked(cell) if str(place) in places else cell
            for place, cell in enumerate(cells, start=1)
        ]


def has_marks(rows: Iterable[Sequence[str]]) -> bool:
    """Check whether any cell of a table must be marked."""
    return any(_must_be_marked(cell) for row in rows for cell in row)


def _must_be_marked(text: str) -> bool:
    return _begins_with_formula(text) or _UNMARKED_INNER.search(text) is not None


def _begins_with_formula(text: str) -> bool:
    # A signed number, such as -1, is no formula.
    return is_like_formula(text) and not _NUMBER.fullmatch(text)


def _unmarked(cell: str) -> str:
    text = unmark_inner_formulas(cell)
    bare = text.removeprefix("'")
    return bare if is_like_formula(bare) else text
