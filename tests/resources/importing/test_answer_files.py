"""Files of predictions, form by form, and what nobody should have to read."""

import json
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from methods.evaluation.cells import FileRow
from methods.evaluation.predictions import PredictionError
from methods.evaluation.published import PublishedError
from resources.files import bounded
from resources.importing import answer_files, record_file
from resources.importing.answer_files import read_rows

RECORDS = [
    {"index": 7, "prediction": "B"},
    {"index": 1_000_007, "prediction": 'The answer is "A",\n\tof course.'},
    {"index": 8, "prediction": None},
]
ROWS = [
    FileRow("record 1", {"index": "7", "prediction": "B"}),
    FileRow("record 2", {"index": "1000007", "prediction": 'The answer is "A",\n\tof course.'}),
    FileRow("record 3", {"index": "8", "prediction": ""}),
]


def written(folder: Path, ending: str) -> Path:
    """The records as a user's tools write them."""
    file = folder / f"preds{ending}"
    table = pd.DataFrame(RECORDS)
    match ending:
        case ".xlsx":
            table.to_excel(file, index=False)
        case ".tsv":
            table.to_csv(file, sep="\t", index=False)
        case ".csv":
            table.to_csv(file, index=False, encoding="utf-8-sig")
        case ".jsonl":
            file.write_text("\ufeff" + "\n".join(map(json.dumps, RECORDS)) + "\n\n")
        case ".json":
            file.write_text("\ufeff" + json.dumps(RECORDS))
    return file


def repacked(
    folder: Path, change: Callable[[str, bytes], bytes], before: dict[str, bytes] | None = None
) -> Path:
    """The spreadsheet with parts changed, and with some before them."""
    file = folder / "repacked.xlsx"
    with (
        zipfile.ZipFile(written(folder, ".xlsx")) as whole,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        parts = {name: change(name, whole.read(name)) for name in whole.namelist()}
        for name, data in {**(before or {}), **parts}.items():
            packed.writestr(name, data)
    return file


def refused(file: Path) -> str:
    with pytest.raises(PredictionError) as caught:
        read_rows(file)
    said = str(caught.value)
    assert said.startswith(f"{file} cannot be imported: ") and said.count("\n") == 0
    return said.removeprefix(f"{file} cannot be imported: ")


@pytest.mark.parametrize("ending", [".xlsx", ".tsv", ".csv", ".jsonl", ".json"])
def test_every_form_has_the_same_records(ending, tmp_path):
    assert read_rows(written(tmp_path, ending)) == ROWS


def test_blanks_around_names_empty_cells_at_the_end_and_empty_rows_do_not_count(tmp_path):
    (tmp_path / "r.csv").write_text("index, prediction \n7,B,,\n,\n8\n")
    numbered = [ROWS[0], ROWS[2]._replace(where="record 3")]
    assert read_rows(tmp_path / "r.csv") == numbered
    # What is said twice in the same way is no contradiction.
    (tmp_path / "r.jsonl").write_text('{"index": 7, "index": 7, "prediction": "B"}\n')
    assert read_rows(tmp_path / "r.jsonl") == [ROWS[0]]


def test_of_all_columns_of_the_data_set_those_that_say_something_are_kept(tmp_path):
    row = {"index": 1_000_007, "question": "Which?", "A": "None", "B": 2, "C": None, "answer": "A"}
    row |= {"category": "style", "g_index": 7.0, "prediction": "A"}
    pd.DataFrame([row]).to_excel(tmp_path / "all.xlsx", index=False)
    kept = {"index": "1000007", "A": "None", "B": "2", "C": "", "g_index": "7", "prediction": "A"}
    assert read_rows(tmp_path / "all.xlsx") == [FileRow("record 1", kept)]
    # Records of MMIU have their task and options.
    cells = {"task": "mevis", "options": "A: x\nB: y", "output": "A", "pred": "B"}
    (tmp_path / "r.json").write_text(json.dumps([{**cells, "n": [1]}]))
    assert read_rows(tmp_path / "r.json") == [FileRow("record 1", cells)]


def test_a_formula_is_the_text_that_it_is_written_as(tmp_path):
    """pandas writes an answer that begins with = as a formula; nothing is computed."""
    file = tmp_path / "f.xlsx"
    texts = ["=1+1", '=HYPERLINK("http://example.org","B")', "+B", "@SUM(A1)"]
    pd.DataFrame({"index": range(4), "prediction": texts}).to_excel(file, index=False)
    assert [row.cells["prediction"] for row in read_rows(file)] == texts


def test_a_spreadsheet_without_styles_of_cells_is_read_without_a_warning(tmp_path, recwarn):
    def without_styles(_: str, data: bytes) -> bytes:
        return re.sub(rb"<cellXfs.*</cellXfs>", b"", data)

    assert read_rows(repacked(tmp_path, without_styles)) == ROWS
    assert not recwarn.list


SHEET_PART = "xl/worksheets/sheet1.xml"
ELEMENTS = "a row or text has more than 100,000 elements"
TAG = "a tag or comment has more than 200,000 bytes"


def sheet(rows: bytes) -> bytes:
    form = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return b'<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (form, rows)


@pytest.mark.parametrize(
    ("part", "content", "why"),
    [
        ("xl/styles.xml", b"<a/>" * 6_000_000, "its part 'xl/styles.xml' is more than 20,000,000"),
        ("xl/styles.xml", b"<fonts>" + b"<font/>" * 200_000 + b"</fonts>", ELEMENTS),
        (SHEET_PART, sheet(b'<row><c r="XFD1"/></row>' * 40), "it has more than 500,000 cells"),
        (SHEET_PART, sheet(b"<row>" + b"<c/>" * 200_000 + b"</row>"), ELEMENTS),
        (SHEET_PART, sheet(b"<row><row/>" + b"<c/>" * 200_000 + b"</row>"), ELEMENTS),
        (SHEET_PART, sheet(b"<c/>" * 200_000), ELEMENTS),
        (SHEET_PART, b"a" * 30_000_000, "it is more than 20,000,000 bytes when"),
        (SHEET_PART, sheet(b'<row a="' + b"a" * 12_000_000 + b'"/>'), TAG),
        ("xl/styles.xml", b"<a><!--" + b"a" * 12_000_000 + b"--></a>", TAG),
        (SHEET_PART, b'<!DOCTYPE a [<!ENTITY a "a">]><a/>', "its XML declares entities"),
        ("xl/workbook.xml", b"<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>", "its XML declares"),
    ],
    ids=["large part", "elements", "columns", "cells", "rows in rows", "cells without rows"]
    + ["large sheet", "tag", "comment", "entities", "entities of the book"],
)
def test_a_part_of_kilobytes_does_not_fill_the_memory(tmp_path, monkeypatch, part, content, why):
    monkeypatch.setattr(record_file, "MOST_CELLS", 500_000)
    file = repacked(tmp_path, lambda name, data: content if name == part else data)
    assert refused(file).startswith(why)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("worksheets/sheet1.dat", ELEMENTS),
        ("media/sheet1.xml", "its part 'xl/media/sheet1.xml' is not XML, or it is an image"),
    ],
)
def test_a_sheet_in_a_part_of_another_name_is_checked_and_images_are_not(tmp_path, name, why):
    images = {
        "xl/media/image1.svg": b"<!DOCTYPE svg><svg>" + b"<g/>" * 200_000 + b"</svg>",
        "docProps/thumbnail.jpeg": b"\xff\xd8\xff\xe0 a photo",
    }
    file = repacked(tmp_path, lambda _, data: data, images)
    assert len(read_rows(file)) == 3
    parts = {**images, f"xl/{name}": sheet(b"<row>" + b"<c/>" * 200_000 + b"</row>")}
    other = name.encode()
    file = repacked(tmp_path, lambda _, data: data.replace(b"worksheets/sheet1.xml", other), parts)
    assert refused(file).startswith(why)


@pytest.mark.parametrize(
    ("n_sheets", "why"),
    [
        (0, "it has no sheet"),
        (2, "two of its sheets are the same part of the file."),
        (51, "it has more than 50 sheets."),
    ],
)
def test_a_spreadsheet_names_a_sheet_and_each_sheet_once(tmp_path, n_sheets, why):
    def often(name: str, data: bytes) -> bytes:
        return re.sub(rb"<sheet [^>]*/>", lambda named: named[0] * n_sheets, data)

    assert refused(repacked(tmp_path, often)).startswith(why)


def test_a_lone_quote_is_refused_unless_quotes_are_said_to_mean_nothing(tmp_path):
    (tmp_path / "r.csv").write_text('index,prediction\n1,"B\n2,A\n3,C\n')
    with pytest.raises(PredictionError, match=r"opens on line 2.*--quoting none"):
        read_rows(tmp_path / "r.csv")
    assert len(read_rows(tmp_path / "r.csv", "none")) == 3


def test_a_line_of_commas_or_of_json_without_end_is_refused(tmp_path, monkeypatch):
    (tmp_path / "r.csv").write_text("index,prediction\n1" + "," * 200_000)
    assert refused(tmp_path / "r.csv") == "line 2 has more than 100,000 cells."
    monkeypatch.setattr(record_file, "MOST_LINE", 50)
    (tmp_path / "r.jsonl").write_text('{"index": 1}\n"' + "a" * 60 + '"\n')
    assert refused(tmp_path / "r.jsonl") == "line 2 is longer than 50 bytes."


def test_a_short_row_is_not_filled_up_to_a_wide_header(tmp_path):
    """A file of kilobytes would else become billions of cells."""
    sizes: list[int] = []

    def measured(record):
        sizes.append(len(record))
        return [record]

    file = tmp_path / "r.tsv"
    columns = ["index", *(f"c{number}" for number in range(20_000)), "prediction"]
    file.write_text("\t".join(columns) + "\n" + "7\tx\n" * 100)
    rows = record_file.read_records(file, ["index", "prediction"], ["prediction"], measured)
    assert rows[99] == FileRow("record 100", {"index": "7", "prediction": ""})
    assert sizes == [3] * 100


def test_the_sheets_of_a_spreadsheet_have_so_many_cells_and_characters_together(
    tmp_path, monkeypatch
):
    file = written(tmp_path, ".xlsx")
    book = openpyxl.load_workbook(file)
    book.create_sheet("wide")["AMJ1"] = "x"
    book.create_sheet("long")["A1020"] = "x"
    book.save(file)
    monkeypatch.setattr(record_file, "MOST_CELLS", 3_000)
    assert [len(table.rows) for table in record_file.read_tables(file)] == [4, 1, 1020]
    monkeypatch.setattr(record_file, "MOST_CELLS", 1_500)
    with pytest.raises(PublishedError, match="more than 1,500 cells"):
        record_file.read_tables(file)
    # Nor can many cells name one long text.
    book = openpyxl.Workbook()
    for row in range(1, 4):
        book.worksheets[0].cell(row, 1, "a long text")
    book.save(file)
    monkeypatch.setattr(record_file, "MOST_CHARACTERS", 33)
    assert record_file.read_tables(file)[0].rows == [["a long text"]] * 3
    monkeypatch.setattr(record_file, "MOST_CHARACTERS", 32)
    with pytest.raises(PublishedError, match="its cells have more than 32 characters"):
        record_file.read_tables(file)


def test_samples_that_unpack_to_too_much_are_not_read(tmp_path, monkeypatch):
    """Twice 15 MB, packed to some kilobytes."""
    with zipfile.ZipFile(tmp_path / "r.eval", "w", zipfile.ZIP_DEFLATED) as log:
        for number in (1, 2):
            log.writestr(f"samples/{number}.json", b"[" + b"[]," * 5_000_000 + b"[]]")
    assert refused(tmp_path / "r.eval") == "it is more than 20,000,000 bytes when unpacked."
    monkeypatch.setattr(bounded, "SMALL_UNPACKED", 40_000_000)
    monkeypatch.setattr(answer_files, "MOST_SAMPLE", 10_000_000)
    assert refused(tmp_path / "r.eval").startswith("'samples/1.json' is more than 10,000,000 bytes")


def sample_log(file: Path, turns: list[int], item_id: str = "d") -> Path:
    """A log of lmms-eval or inspect_ai. Each of its samples has a number of turns."""
    with zipfile.ZipFile(file, "w") if file.suffix == ".eval" else file.open("w") as log:
        for number, n_turns in enumerate(turns):
            item = {"item_id": item_id, "trial": "plain"}
            if isinstance(log, zipfile.ZipFile):
                sample = {"epoch": 1, "metadata": {"vlm_loom": {**item, "said": [{}] * n_turns}}}
                log.writestr(f"samples/{number}.json", json.dumps(sample))
            else:
                metric = {**item, "turns": [1] * n_turns}
                sample = {"filtered_resps": [[""] * n_turns], "vlm_loom": metric}
                log.write(json.dumps(sample) + "\n")
    return file


@pytest.mark.parametrize("name", ["r.jsonl", "r.eval"])
def test_the_turns_of_all_samples_of_a_log_are_records(tmp_path, monkeypatch, name):
    monkeypatch.setattr(record_file, "MOST_ROWS", 100)
    assert len(read_rows(sample_log(tmp_path / name, [50, 50]))) == 100
    for turns in ([101], [50, 51]):
        assert refused(sample_log(tmp_path / name, turns)) == "it has more than 100 records."


@pytest.mark.parametrize("name", ["r.jsonl", "r.eval"])
def test_a_long_id_is_not_repeated_for_each_of_many_turns(tmp_path, monkeypatch, name):
    file = sample_log(tmp_path / name, [1_000], "d" * 1_000)
    assert len(read_rows(file)) == 1_000
    monkeypatch.setattr(bounded, "SMALL_UNPACKED", 100_000)
    monkeypatch.setattr(bounded, "MOST_TIMES", 10)
    assert re.match(r"its records have more than \d+,\d+ characters\.", refused(file))


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl", "r.xlsx", "r.eval"])
def test_a_pipe_is_no_file(tmp_path, name):
    os.mkfifo(tmp_path / name)
    assert "not a regular file" in refused(tmp_path / name)


def test_a_row_at_the_end_of_an_endless_sheet_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(record_file, "MOST_ROWS", 1_000)
    file = repacked(tmp_path, lambda _, data: data.replace(b'<row r="4"', b'<row r="99999999999"'))
    assert refused(file) == "it has more than 1,000 records."


TWICE = "in an object two values have the name 'pred': leave one."


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("r.pkl", b"x", "its name ends in none of .xlsx, .tsv, .csv, .jsonl, .json."),
        ("r.xlsx", b"index,prediction\n", "it is not an .xlsx file, or it is damaged."),
        ("r.csv", b"", "it has no records."),
        ("r.csv", b"index,prediction\n", "it has no records."),
        ("r.csv", b"index,index\n1,2\n", "two of its columns have the same name."),
        ("r.csv", b"index,prediction\n1,A,B\n", "record 1 has more cells than there are columns."),
        ("r.csv", b"index,prediction\n1,\xff\n", "it is not UTF-8 (invalid start byte)."),
        ("r.jsonl", b'{"index": 1}\n{"ind', "line 2 is not valid JSON."),
        ("r.jsonl", b"[1]\n", "record 1 is not a mapping."),
        ("r.json", b"{}", "it is not a list of records."),
        ("r.json", b"[", "it is not valid JSON (line 1)."),
        ("r.json", b'[{"prediction": ["A"]}]', "record 1: its prediction is not a text."),
        ("r.jsonl", b"[" * 100_000, "line 1 is not valid JSON."),
        ("r.jsonl", b'{"pred": "A", "pred": "B"}\n', f"line 1: {TWICE}"),
        ("r.json", b'[{"pred": "A", "pred": "B"}]', TWICE),
    ],
)
def test_what_is_wrong_is_one_sentence(name, content, why, tmp_path):
    file = tmp_path / name
    file.write_bytes(content)
    assert refused(file) == why


def test_a_second_sheet_with_cells_is_refused_and_an_empty_one_is_not(tmp_path):
    file = written(tmp_path, ".xlsx")
    book = openpyxl.load_workbook(file)
    second = book.create_sheet("model b")
    book.save(file)
    assert read_rows(file) == ROWS

    second["A1"] = "index"
    book.save(file)
    assert refused(file).startswith(
        "its sheet 'model b' has cells, too, but records are only read from"
    )
