"""Published tables as Parquet: round trips, the forms that others write, and broken files."""

import base64
import csv
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from methods.evaluation.published import PublishedError
from methods.evaluation.published_tables import tsv_line
from methods.mmbench import published as mmbench
from methods.mmiu import published as mmiu
from resources.files import bounded, parquet_table
from resources.files.parquet_table import tsv_lines_of, write_table
from resources.images.store import ImageStore
from resources.importing.published_files import PublishedFileError, read_items
from tests.doubles.one_colour import one_colour
from tests.methods.mmbench.test_published import bytes_of
from tests.methods.mmbench.test_published import items as mmbench_items
from tests.methods.mmiu.test_mmiu import OTHERS, PHOTOGRAPH

IN_ONE_FOLDER = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


RED, BLUE = one_colour("red"), one_colour("blue", form="JPEG")
ROW: dict[str, Any] = {"index": 7, "question": "Which?", "A": "None", "B": "NA", "answer": "B"}


def back(lines: list[str], folder: Path) -> list[str]:
    """The lines of a TSV after a way through Parquet."""
    file = folder / "table.parquet"
    write_table(lines, file)
    return list(tsv_lines_of(file))


def read(folder: Path, table: pa.Table, forms: Any = mmbench) -> list[Any]:
    file = folder / "dev.parquet"
    pq.write_table(table, file)
    return read_items(forms, file, None, ImageStore(folder / "images"))


def refused(folder: Path, file: Path) -> str:
    with pytest.raises(PublishedFileError) as caught:
        read_items(mmbench, file, None, ImageStore(folder / "images"))
    said = str(caught.value)
    assert said.startswith(f"{file} cannot be imported: ") and said.count("\n") == 0
    return said.removeprefix(f"{file} cannot be imported: ")


@IN_ONE_FOLDER
@given(st.lists(mmbench_items(), min_size=1, max_size=3, unique_by=lambda each: each.item_id))
def test_rows_of_mmbench_are_the_same_byte_by_byte(tmp_path, released):
    for circular in (False, True):
        lines = list(mmbench.tsv_lines(released, bytes_of, circular=circular))
        assert back(lines, tmp_path) == [*map(with_column, lines, count())]


def test_rows_of_mmiu_are_the_same_byte_by_byte(tmp_path):
    lines = list(mmiu.tsv_lines([PHOTOGRAPH, *OTHERS], bytes_of))
    assert back(lines, tmp_path) == [*map(with_column, lines, count())]


def with_column(line: str, number: int) -> str:
    """What is read has a column of paths beside that of images: empty here."""
    (cells,) = csv.reader([line], delimiter="\t")
    return tsv_line([*cells, "" if number else "image_path"])


def in_text(image: bytes) -> str:
    return base64.b64encode(image).decode()


IMAGES = [in_text(RED), RED, {"bytes": RED, "path": "x.png"}, {"bytes": None, "path": "red.png"}]


@pytest.mark.parametrize("index", [7, 7.0, "7"])
@pytest.mark.parametrize("image", IMAGES)
def test_an_index_is_a_number_or_a_text_and_an_image_a_text_bytes_or_a_struct(
    index, image, tmp_path
):
    (tmp_path / "red.png").write_bytes(RED)
    row = {**ROW, "index": index, "C": None, "hint": None, "image": image}
    (item,) = read(tmp_path, pa.Table.from_pylist([row]))
    assert (item.item_id, item.choices) == ("7", ("None", "NA"))
    assert item.turns[0].references == {"key": "B"}
    assert ImageStore(tmp_path / "images").read(item.image_ids[0]) == RED


def test_nan_is_missing_beside_structs_and_a_text_elsewhere(tmp_path):
    row = {**ROW, "A": "None", "B": "NA", "C": "nan", "hint": "nan"}
    (item,) = read(tmp_path, pa.Table.from_pylist([{**row, "image": {"bytes": RED, "path": None}}]))
    assert (item.choices, item.turns[0].question) == (("None", "NA"), "<ImageHere>\nWhich?")
    (item,) = read(tmp_path, pa.Table.from_pylist([{**row, "image": in_text(RED)}]))
    assert item.choices == ("None", "NA", "nan")


@pytest.mark.parametrize(
    "images", [[in_text(RED), in_text(BLUE)], [RED, BLUE], [{"bytes": RED}, {"bytes": BLUE}]]
)
def test_several_images_are_a_list(images, tmp_path):
    row = {**ROW, "task": "mevis", "context": "See.", "image": images}
    (item,) = read(tmp_path, pa.Table.from_pylist([row]), mmiu)
    store = ImageStore(tmp_path / "images")
    assert [store.read(each) for each in item.image_ids] == [RED, BLUE]
    assert item.choices == ("None", "NA") and item.labels["task"] == "mevis"


def test_rows_come_one_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_table, "GROUP_CHARACTERS", 10)
    lines = [tsv_line(["index", "question"]), *(tsv_line([str(n), "x" * 9]) for n in range(7))]
    file = tmp_path / "t.parquet"
    write_table(iter(lines), file)
    # The second row is one more than fits.
    assert pq.read_metadata(file).num_row_groups == 4
    taken = tsv_lines_of(file)
    assert [next(taken) for _ in range(3)] == lines[:3]
    # What comes later is not looked at before it is asked for.
    assert list(taken) == lines[3:]


def test_a_file_has_neither_statistics_nor_metadata(tmp_path):
    file = tmp_path / "t.parquet"
    write_table([tsv_line(["index", "answer"]), tsv_line(["1", "B"])], file)
    whole = pq.read_metadata(file)
    assert whole.metadata is None
    assert not any(whole.row_group(0).column(n).is_stats_set for n in range(2))
    assert pq.read_schema(file).field("index").type == pa.int64()


DAMAGED = "it is not a Parquet file, or one that is cut off or damaged."


def test_a_file_that_is_cut_off_or_damaged_or_has_an_odd_time_is_one_sentence(tmp_path):
    file = tmp_path / "a.parquet"
    table = pa.Table.from_pylist([{**ROW, "image": in_text(RED)}])
    pq.write_table(table, file, compression="zstd")
    whole = file.read_bytes()
    # In the last one the footer is whole, the pages are not: noticed only when rows are read.
    for harmed in (b"", whole[:-9], whole[:4] + b"\xff" * 196 + whole[200:]):
        file.write_bytes(harmed)
        assert refused(tmp_path, file) == DAMAGED
    # Python has no value for these times.
    for number, form in ((2**60, pa.timestamp("us")), (1, pa.timestamp("us", "No/Zone"))):
        pq.write_table(table.append_column("asked_at", pa.array([number], form)), file)
        assert refused(tmp_path, file) == DAMAGED


def test_what_is_wrong_with_a_table_is_one_sentence(tmp_path):
    file = tmp_path / "a.parquet"
    assert refused(tmp_path, file) == "it cannot be read (No such file or directory)."
    row = {**ROW, "image": "x"}
    for table, said in (
        (pa.table({"index": [1], "image": ["x"]}), "it has no column question."),
        (pa.Table.from_pylist([row]).slice(0, 0), "it has no records."),
        (pa.table([["1"], ["2"]], names=["index", "index"]), "it has no column question."),
        (pa.Table.from_pylist([{**row, "question": b"\xff\xfe"}]), "it is not UTF-8 ("),
    ):
        pq.write_table(table, file)
        assert refused(tmp_path, file).startswith(said)


def test_a_file_of_kilobytes_with_millions_of_rows_or_cells_is_refused(tmp_path, monkeypatch):
    wide = pa.nulls(5_001, pa.struct([(f"f{n}", pa.string()) for n in range(2_000)]))
    for table in (pa.table([wide], names=["c"]), pa.Table.from_struct_array(wide)):
        pq.write_table(table, tmp_path / "c.parquet")
        with pytest.raises(PublishedError, match="more than 10,000,000 cells"):
            list(tsv_lines_of(tmp_path / "c.parquet"))
    monkeypatch.setattr(parquet_table, "MOST_ROWS", 1_000)
    table = pa.table({"index": pa.array(["1"] * 1_001).dictionary_encode()})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(PublishedError, match="more than 1,000 records"):
        list(tsv_lines_of(tmp_path / "a.parquet"))


def test_the_texts_of_all_records_are_measured_as_python_holds_them(tmp_path, monkeypatch):
    monkeypatch.setattr(bounded, "SMALL_UNPACKED", 120_000)
    monkeypatch.setattr(bounded, "MOST_TIMES", 1)
    for letter in "aé":
        table = pa.table({"index": ["a" * 10_000 + letter] * 10})
        pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
        assert len(list(tsv_lines_of(tmp_path / "a.parquet"))) == 11
    # A character of four bytes makes all others as wide.
    table = pa.table({"index": ["a" * 10_000 + "😀"] * 10})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    with pytest.raises(PublishedError, match="more than 120,000 bytes as texts"):
        list(tsv_lines_of(tmp_path / "a.parquet"))


def test_names_of_fields_that_records_repeat_count_as_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(bounded, "SMALL_UNPACKED", 100_000)
    monkeypatch.setattr(bounded, "MOST_TIMES", 1)
    file = tmp_path / "a.parquet"
    for n_rows, is_read in ((99, True), (120, False)):
        pq.write_table(pa.table({"a": [{"n" * 900: 1}] * n_rows}), file)
        if is_read:
            assert len(list(tsv_lines_of(file))) == n_rows + 1
        else:
            with pytest.raises(PublishedError, match="more than 100,000 bytes as texts"):
                list(tsv_lines_of(file))
    pq.write_table(pa.table({"n" * 1_001: [1]}), file)
    assert refused(tmp_path, file) == (
        "it cannot be read (the name of a column, with those of its fields, has more than 1,000 "
        "characters: shorten it)."
    )
