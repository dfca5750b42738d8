"""Escapes of characters in the cells of .xlsx files, inside cells and in their shared texts."""

import zipfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def with_texts(file: Path, texts: list[str], shared: bool) -> Path:
    """A spreadsheet of predictions whose XML has these texts."""
    book = openpyxl.Workbook()
    for row in (["index", "prediction"], *([n, f"text {n}"] for n in range(len(texts)))):
        book.active.append(row)
    book.save(file.with_suffix(".draft"))
    with zipfile.ZipFile(file.with_suffix(".draft")) as draft, zipfile.ZipFile(file, "w") as out:
        for name in draft.namelist():
            content = draft.read(name).decode()
            for n, text in enumerate(texts):
                content = content.replace(f">text {n}<", f' xml:space="preserve">{text}<')
            if not shared and name == "xl/worksheets/sheet1.xml":
                for n, text in enumerate(texts):
                    at = f'r="B{n + 2}"'
                    place = content.index("</c>", content.index(at))
                    start = content.rindex("<c ", 0, place)
                    content = (
                        f'{content[:start]}<c {at} t="inlineStr"><is><t xml:space="preserve">{text}'
                        f"</t></is>{content[place:]}"
                    )
            out.writestr(name, content)
    return file


@pytest.mark.parametrize("shared", [True, False])
def test_the_escapes_of_a_spreadsheet_are_undone(shared: bool, tmp_path: Path) -> None:
    file = with_texts(tmp_path / "preds.xlsx", list(TEXTS), shared)
    assert [row.cells["prediction"] for row in read_rows(file)] == list(TEXTS.values())


@given(st.text(st.sampled_from("_x0059FfD\r")))
def test_a_text_that_is_written_is_read_as_it_was(text: str) -> None:
    assert unescaped(escaped(text)) == text
