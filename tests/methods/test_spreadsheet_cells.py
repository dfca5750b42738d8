"""Cells that a spreadsheet would compute: marked on the way out, exact again on the way in."""

import re

from hypothesis import given
from hypothesis import strategies as st

from methods.spreadsheet_cells import MARKED, has_marks, mark_formula, marked_rows, unmarked_rows

FORMULA = tuple("=+-@\t\r＝＋－＠")
CELLS = st.text(st.sampled_from("=+-@;\t\r'1.e ab＝"), max_size=6) | st.text(max_size=8)


def number(cell: str) -> bool:
    try:
        return float(cell) is not None
    except ValueError:
        return False


def test_which_cells_are_marked() -> None:
    marks = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\r=1", "＝1", " =1", "'=1"]
    others = ["", "a=b", "-5", "+1.5e3", "'tis", "1-2", "[1]"]
    assert [mark_formula(text) for text in marks] == [f"'{text}" for text in marks]
    assert [mark_formula(text) for text in others] == others
    assert has_marks([others, ["x", "=1"]]) and not has_marks([others])


def test_a_number_of_a_million_digits_is_told_from_a_formula_in_one_pass() -> None:
    digits = "-" + "1" * 1_000_000
    assert mark_formula(digits) == digits and mark_formula(f"{digits}x") == f"'{digits}x"


def test_a_formula_is_marked_also_where_a_semicolon_or_a_tab_separates_cells() -> None:
    assert mark_formula(";=1+1") == ";'=1+1"
    assert mark_formula("'tis; =1;\t@A1 a;b") == "'tis;' =1;\t'@A1 a;b"
    assert mark_formula("=1;-2") == "'=1;'-2"
    assert mark_formula("yes; no\tmaybe") == "yes; no\tmaybe"


def test_a_table_says_which_cells_are_marked() -> None:
    rows = [["index", "=label"], ["1", "ok"], ["-x", "'@a"]]
    assert list(marked_rows(rows)) == [
        ["index", "'=label", f"{MARKED} 2"],
        ["1", "ok", ""],
        ["'-x", "''@a", "1 2"],
    ]


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n))))
def test_out_and_in_again_is_the_same(rows: list[list[str]]) -> None:
    out = [*marked_rows(rows)]
    assert [*unmarked_rows(out)] == rows
    assert not any(cell.startswith(FORMULA) and not number(cell) for row in out for cell in row)
    inner = [part for row in out for cell in row for part in re.split("[;\t]", cell)[1:]]
    assert not any(part.lstrip(" ").startswith(tuple("=+-@＝＋－＠")) for part in inner)
