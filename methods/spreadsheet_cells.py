"""Cells of CSV and TSV files for spreadsheets, in which a text may not become a formula."""

import re
from collections.abc import Iterable, Iterator, Sequence

MARKED = "marked_cells"
"""Name of the last column of a table with marks: the numbers, from 1, of the cells of a row that are
marked. In the header those of the header follow the name."""

_FORMULA = tuple("=+-@\t\r＝＋－＠")
# Where cells are separated by semicolons or tabs, a spreadsheet finds one inside a text.
_INNER_CELL = r"(?<=[;\t]){}(?=[' ]*[=+\-@＝＋－＠])"
_UNMARKED_INNER, _MARKED_INNER = (re.compile(_INNER_CELL.format(mark)) for mark in ("", "'"))
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def is_like_formula(text: str) -> bool:
    """Whether a spreadsheet may compute the text; leading blanks and apostrophes do not count."""
    bare = text.lstrip("'")
    return bare.startswith(_FORMULA) or bare.strip().startswith(_FORMULA)


def mark_inner_formulas(text: str) -> str:
    """The text with an apostrophe before each formula that follows a semicolon or a tab in it."""
    return _UNMARKED_INNER.sub("'", text)


def unmark_inner_formulas(text: str) -> str:
    """The text without the apostrophes of `mark_inner_formulas`."""
    return _MARKED_INNER.sub("", text)


def mark_formula(text: str) -> str:
    """The text as a cell that no spreadsheet computes: an apostrophe stands before each formula."""
    inner = mark_inner_formulas(text)
    return f"'{inner}" if _begins_with_formula(text) else inner


def marked_rows(rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """The rows of a table, its header first, with marks and the column that tells them."""
    for number, row in enumerate(rows):
        places = [str(place) for place, cell in enumerate(row, start=1) if _must_be_marked(cell)]
        marks = [*([] if number else [MARKED]), *places]
        yield [*map(mark_formula, row), " ".join(marks)]


def unmarked_rows(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """The rows as they were before they were marked; those of a table without marks as they are."""
    width = None
    for number, row in enumerate(rows):
        if number == 0 and row and row[-1].split()[:1] == [MARKED]:
            width = len(row)
        if len(row) != width:
            yield row
            continue
        *cells, marks = row
        places = {int(place) for place in marks.split() if place.isdecimal()}
        yield [
            _unmarked(cell) if place in places else cell
            for place, cell in enumerate(cells, start=1)
        ]


def has_marks(rows: Iterable[Sequence[str]]) -> bool:
    """Whether any cell of a table must be marked."""
    return any(_must_be_marked(cell) for row in rows for cell in row)


def _must_be_marked(text: str) -> bool:
    return _begins_with_formula(text) or _UNMARKED_INNER.search(text) is not None


def _begins_with_formula(text: str) -> bool:
    # A spreadsheet shows a number as what it is.
    return is_like_formula(text) and not _NUMBER.fullmatch(text)


def _unmarked(cell: str) -> str:
    text = unmark_inner_formulas(cell)
    bare = text.removeprefix("'")
    return bare if is_like_formula(bare) else text
