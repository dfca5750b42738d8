"""Escapes of characters in the cells of .xlsx files, inside cells and in their shared texts."""

import re
import zipfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.evaluation.predictions import PredictionError
from resources.files import bounded, xlsx_text
from resources.files.xlsx_text import escaped, unescaped
from resources.importing.answer_files import read_rows

TEXTS = {
    "B_x000D_\n": "B\r\n",
    "_x000d_A": "\rA",
    "B_x0007_": "B\a",
    "A_x005F_x000D_": "A_x000D_",
    "A_x005F_x005F_x005F_x000D_": "A_x005F_x000D_",
    "_xD83D__xDE00_": "😀",
    "a_x000_ x000D snake_xylophone_case": "a_x000_ x000D snake_xylophone_case",
}


SPREADSHEETML = "openxmlformats.org/spreadsheetml/2006/main"
SHARED = """<Override PartName="/xl/sharedStrings.xml"
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>"""


def with_texts(file: Path, texts: list[str], shared: bool) -> Path:
    """A spreadsheet of predictions whose XML has these texts."""
    book = openpyxl.Workbook()
    for row in (["index", "prediction"], *([n, f"text {n}"] for n in range(len(texts)))):
        book.active.append(row)
    book.save(file.with_suffix(".draft"))
    elements = [f'<t xml:space="preserve">{text}</t>' for text in texts]
    with zipfile.ZipFile(file.with_suffix(".draft")) as draft, zipfile.ZipFile(file, "w") as out:
        for name in draft.namelist():
            content = draft.read(name).decode().replace("</Types>", f"{SHARED}</Types>")
            for n, element in enumerate(elements):
                cell = f'"s"><v>{n}</v>' if shared else f'"inlineStr"><is>{element}</is>'
                content = content.replace(f'"inlineStr"><is><t>text {n}</t></is>', cell)
            out.writestr(name, content)
        items = "".join(f"<si>{element}</si>" for element in elements)
        out.writestr(
            "xl/sharedStrings.xml", f'<sst xmlns="http://schemas.{SPREADSHEETML}">{items}</sst>'
        )
    return file


@pytest.mark.parametrize("shared", [True, False])
def test_the_escapes_of_a_spreadsheet_are_undone(shared: bool, tmp_path: Path) -> None:
    file = with_texts(tmp_path / "preds.xlsx", list(TEXTS), shared)
    assert [row.cells["prediction"] for row in read_rows(file)] == list(TEXTS.values())


def test_a_text_that_many_cells_share_is_not_repeated_for_each(tmp_path, monkeypatch):
    file = with_texts(tmp_path / "preds.xlsx", ["a" * 1_000, *["b"] * 99], shared=True)
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(tmp_path / "r.xlsx", "w") as changed:
        for name in whole.namelist():
            # Every row has the first text.
            content = re.sub(rb'"s"><v>\d+</v>', b'"s"><v>0</v>', whole.read(name))
            changed.writestr(name, content)
    assert {row.cells["prediction"] for row in read_rows(tmp_path / "r.xlsx")} == {"a" * 1_000}
    monkeypatch.setattr(bounded, "SMALL_UNPACKED", 0)
    monkeypatch.setattr(bounded, "MOST_TIMES", 2)
    with pytest.raises(PredictionError, match="its records have more than .* characters"):
        read_rows(tmp_path / "r.xlsx")


@pytest.mark.parametrize("shared", [True, False])
def test_formatted_texts_are_read_up_to_a_number_of_elements(shared, tmp_path, monkeypatch):
    run = '</t></r><r><t xml:space="preserve">b'
    texts = [f"</t><r><t>a{run * 9}</t></r><t>" if n else "a" for n in range(10)]
    file = with_texts(tmp_path / "preds.xlsx", texts, shared)
    # Ten formats of two elements and an empty text, after the first one. The other file has them twice.
    n_elements = 9 * 21 * (1 if shared else 2)
    monkeypatch.setattr(xlsx_text, "MOST_RICH", n_elements)
    assert [row.cells["prediction"] for row in read_rows(file)] == ["a"] + ["a" + "b" * 9] * 9
    monkeypatch.setattr(xlsx_text, "MOST_RICH", n_elements - 1)
    with pytest.raises(PredictionError, match="its formatted texts have more than"):
        read_rows(file)


@given(st.text(st.sampled_from("_x0059FfD\r")))
def test_a_text_that_is_written_is_read_as_it_was(text: str) -> None:
    assert unescaped(escaped(text)) == text
