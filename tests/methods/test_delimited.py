"""Cells of tables: quotes of CSV and TSV, formulas of spreadsheets, and texts in Markdown."""

import csv
import io
import re
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from methods import delimited
from methods.delimited import DelimitedError, Quoting, csv_line, rows_of
from methods.markdown import code, table
from methods.spreadsheet_cells import MARKED, has_marks, mark_formula, marked_rows, unmarked_rows

HEAD = "index,question,comment\n"


def read(text: str, quoting: Quoting = "checked", delimiter: str = ",") -> list[list[str]]:
    return [row.cells for row in rows_of(io.StringIO(text, newline=""), delimiter, quoting)]


def refused(text: str, quoting: Quoting = "checked") -> DelimitedError:
    with pytest.raises(DelimitedError) as caught:
        read(text, quoting)
    return caught.value


CELLS = st.text(st.characters(codec="utf-8")) | st.text(
    st.sampled_from("\r\n\"',;\t= \x0b\x0c\x1c\x85\u2028a")
)


@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1),
    st.booleans(),
    st.sampled_from([",", "\t", ";"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_reader_finds_the_rows_that_were_written(rows, quote_all, delimiter, end):
    lines = [csv_line(row, delimiter, quote_all=quote_all, end=end) for row in rows]
    text = "".join(lines)
    assert read(text, "csv", delimiter) == rows
    assert [*csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)] == rows
    # Only a carriage return is quoted otherwise than by Python's writer.
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    for row, line in zip(rows, lines, strict=True):
        written = io.StringIO()
        csv.writer(written, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerow(row)
        assert "\r" in "".join(row) or line.removesuffix(end) + "\n" == written.getvalue()


def test_a_row_begins_on_a_line_and_a_quoted_word_at_its_beginning_stays_quoted() -> None:
    rows = list(rows_of(io.StringIO('a,b\r\n1,"x\r\ny"\r\n\r\n2,z'), ","))
    assert [row.line for row in rows] == [1, 2, 4, 5]
    assert [row.cells for row in rows] == [["a", "b"], ["1", "x\r\ny"], [], ["2", "z"]]
    # No tool that quotes cells writes text behind the closing quote.
    assert read('1,"Stop" is written where?,12" wide\n') == [
        ["1", '"Stop" is written where?', '12" wide']
    ]


TAKES_IN = "a quote that opens on line 3 takes in rows: what follows in its cell looks like"
COLUMNS = "the row that begins on line 3 has 2 columns instead of 3 as its quotes are, and"


@pytest.mark.parametrize(
    ("rows", "fact"),
    [
        (
            '1,a,\n2,"b,\n3,c,\n',
            "the quote that opens on line 3 in the column 'question' is not closed by the end of the "
            "file",
        ),
        (
            '1,a,\n2,b,"x\n3,c,see "that"\n4,d,\n',
            "the quote that opens on line 3 in the column 'comment' closes inside a text on line 4",
        ),
        (
            '1,a,\n2,b,"x\n3,c,\n4,d,12"\n5,e,\n',
            f"{TAKES_IN} 2 rows of the table ('3', '4')",
        ),
        ('1,a,\n2,"b,\n3,is it 12",\n4,d,\n', f"{TAKES_IN} 1 row of the table ('3')"),
        ('1,a,\n2,"b,\n3,c,12"\n4,d,\n', f"{COLUMNS} 2 lines without them"),
        ('1,a,\n2,"b,12"\n3,c,\n', f"{COLUMNS} 3 columns without them"),
        # Keys may be words, of two characters more than any other.
        ('cat,a,\nhorse,"b,\ngiraffe,is it 12",\n', f"{TAKES_IN} 1 row of the table ('giraffe')"),
    ],
)
def test_a_quote_that_takes_in_rows_is_refused_and_may_be_read_as_a_character(rows, fact):
    error = refused(HEAD + rows)
    assert error.fact == fact
    assert "If the file was written without quoting, read it with --quoting none" in str(error)
    assert read(HEAD + rows, "none") == [line.split(",") for line in (HEAD + rows).splitlines()]


@pytest.mark.parametrize(
    "text",
    [
        # Lines have other numbers of commas than rows.
        HEAD + '1,"a\nb\nc",x\n2,d,"e,\nf, g"\n',
        HEAD + 'cat,a,\nhorse,"b,\nelephant,is it 12",\n',
        # Lines begin with words, and rows with numbers.
        'index,prediction\n1,"Well, it is\nB, I think"\n2,A\n',
        # Lines begin with words, and rows with ids that have digits.
        'item_id,prediction\nd7,"Well, it is\nB, I think"\nd8,A\n',
        # A list in an answer counts from 1, and the table has these rows.
        'index,prediction\n1,A\n2,B\n3,"Seen:\n1, cat\n2, dog"\n',
        # What stands where rows have numbers is a word.
        'item,model,score,why\na,m,5,"Fine,\nit, is, clear, yes"\nb,m,4,\nc,m,4,\nd,m,4,\n',
    ],
)
def test_line_breaks_in_quoted_cells_are_parts_of_texts(text: str) -> None:
    assert read(text) == list(csv.reader(io.StringIO(text, newline="")))


def test_a_cell_that_holds_rows_of_such_a_table_is_read_if_one_says_so() -> None:
    text = 'index,prediction\n5,"Seen:, two\n1, cat\n2, dog"\n6,A\n'
    assert "if these lines belong to the cell, with --quoting csv" in str(refused(text))
    assert read(text, "csv")[1] == ["5", "Seen:, two\n1, cat\n2, dog"]
    assert "is not closed" in refused('a,b\n1,"x\n', "csv").fact


def test_a_cell_has_at_most_so_many_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unclosed quote does not take the rest of a large file into memory."""
    monkeypatch.setattr("methods.delimited.MOST_CELL", 20)
    assert (
        "that opens on line 2 in the column 'b' has more" in refused('a,b\n1,"' + "x\n" * 40).fact
    )
    assert refused("a,b\n1," + "x" * 21).fact == "a cell of line 2 has more than 20 characters"
    monkeypatch.setattr("methods.delimited.MOST_CELLS", 3)
    assert refused("a,b,c\n1,2,3,\n", "none").fact == "line 2 has more than 3 cells"


def test_a_line_with_quotes_has_at_most_so_many_cells_too() -> None:
    cells = "," * 100_000
    for line in (f'"a"{cells}', f'a{cells}"b"'):
        fact = "line 1 has more than 100,000 cells"
        assert refused(f"{line}\n").fact == refused(f"{line}\n", "none").fact == fact
    # Delimiters inside quotes do not separate cells.
    assert read(f'a,"{cells}"\n') == [["a", cells]]


def test_keys_are_looked_at_once_however_many_rows_a_quote_takes_in(monkeypatch) -> None:
    looked_at: list[str] = []
    whole = delimited._WHOLE

    def fullmatch(key: str) -> re.Match[str] | None:
        looked_at.append(key)
        return whole.fullmatch(key)

    monkeypatch.setattr(delimited, "_WHOLE", SimpleNamespace(fullmatch=fullmatch))
    n = 300
    swallowed = "".join(f"{number},A\n" for number in range(1, n))
    others = "".join(f"{number},A\n" for number in range(n + 1, 2 * n))
    error = refused(f'index,prediction\n0,"A\n{swallowed}{n},B"\n{others}')
    assert "looks like 300 rows of the table" in error.fact
    assert len(looked_at) == 2 * n


FORMULA = tuple("=+-@\t\r＝＋－＠")
SHEET_CELLS = st.text(st.sampled_from("=+-@;\t\r'1.e ab＝"), max_size=6) | st.text(max_size=8)


def number(cell: str) -> bool:
    try:
        return float(cell) is not None
    except ValueError:
        return False


def test_which_cells_are_marked() -> None:
    marks = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx", "＝1", " =1", "'=1"]
    others = ["", "a=b", "-5", "+1.5e3", "'tis", "1-2", "[1]", "yes; no\tmaybe"]
    assert [mark_formula(text) for text in marks] == [f"'{text}" for text in marks]
    assert [mark_formula(text) for text in others] == others
    assert has_marks([others, ["x", "=1"]]) and not has_marks([others])
    # A semicolon, a tab or a line break may separate cells, too.
    assert mark_formula("\r=1") == "'\r'=1"
    assert mark_formula(";=1+1") == ";'=1+1"
    assert mark_formula('a;"=1') == "a;'\"=1"
    assert mark_formula("a\n=1\r\n-x\r@A1") == "a\n'=1\r\n'-x\r'@A1"
    assert mark_formula("'tis; =1;\t@A1 a;b") == "'tis;' =1;\t'@A1 a;b"
    assert mark_formula("=1;-2") == "'=1;'-2"
    # A number of a million digits is told from a formula in one pass.
    digits = "-" + "1" * 1_000_000
    assert mark_formula(digits) == digits and mark_formula(f"{digits}x") == f"'{digits}x"


def test_a_table_says_which_cells_are_marked() -> None:
    rows = [["index", "=label"], ["1", "ok"], ["-x", "'@a"]]
    assert list(marked_rows(rows)) == [
        ["index", "'=label", f"{MARKED} 2"],
        ["1", "ok", ""],
        ["'-x", "''@a", "1 2"],
    ]


def test_a_number_of_thousands_of_digits_marks_no_cell() -> None:
    header = ["index", "label", MARKED]
    assert list(unmarked_rows([header, ["1", "'=1", "1" * 5_000], ["2", "'=1", "2"]])) == [
        *(header[:-1], ["1", "'=1"], ["2", "=1"])
    ]


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(SHEET_CELLS, min_size=n, max_size=n))))
def test_out_and_in_again_is_the_same(rows: list[list[str]]) -> None:
    out = [*marked_rows(rows)]
    assert [*unmarked_rows(out)] == rows
    assert not any(cell.startswith(FORMULA) and not number(cell) for row in out for cell in row)
    inner = [part for row in out for cell in row for part in re.split("[;\t\r\n]", cell)[1:]]
    assert not any(part.lstrip(' "').startswith(tuple("=+-@＝＋－＠")) for part in inner)


IMAGE = "![x](http://evil.example/x.png)"
_CELL = re.compile(r"(?:\\[\\|]|[^|])+")
"""A cell as Dagster's UI (micromark) splits a row: a backslash escapes a backslash or a pipe, also
in code. markdown-it only looks at the character before a pipe."""


@given(st.text(st.sampled_from("\\|`a \n\r\u2028") | st.characters(), min_size=1))
@example(f"\\\\|{IMAGE}")
@example(f"\\|{IMAGE}")
@example(f"`{IMAGE}`\n\n{IMAGE}")
@example("ends with \\")
def test_whatever_a_text_has_it_stays_in_the_code_of_its_cell(text: str) -> None:
    written = table(("name", "n"), [(code(text + IMAGE), "1")])
    assert [part.strip() for part in _CELL.findall(written[-1])] == [code(text + IMAGE), "1"]
    tokens = MarkdownIt("commonmark").enable("table").parse("\n".join(written))
    inline = [[child.type for child in token.children or []] for token in tokens if token.children]
    assert inline == [["text"], ["text"], ["code_inline"], ["text"]]
