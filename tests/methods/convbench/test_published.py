"""ConvBench's published table: stray columns, other tables by ID, and written again as it was."""

import io
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest
from PIL import Image as Picture

from methods.convbench import published
from methods.convbench.published import FILE_NAME, read_published, read_tables, write_published
from methods.evaluation.items import Item
from methods.evaluation.published import PublishedItem, PublishedTable
from resources.images.store import ImageStore
from resources.importing.published_files import read_items
from tests.methods.refusals import clause_of

HEADER = [
    *("ID", "image_id", "The_first_turn_instruction", "The_second_turn_instruction"),
    "The_third_turn_instruction",
]
ROWS = [
    ["2", "cat.png", "What is it?", "Why is it there?", 'Write "a line", please.\nThanks.'],
    ["37", "", "Who?", "Where?\r38\r=1+1\u2028\x0b", "Sing."],
]
TABLE = [HEADER, ROWS[0]]


def read(*tables: tuple[str, Sequence[Sequence[str]]]) -> tuple[list[PublishedItem], list[str]]:
    said: list[str] = []
    items = list(read_tables([PublishedTable(name, rows) for name, rows in tables], said.append))
    return items, said


def written(items: Sequence[PublishedItem]) -> str:
    return "".join(write_published(items, lambda _: b"")[FILE_NAME])


def test_a_row_is_three_turns_and_the_picture_enters_with_the_first() -> None:
    (one, two), said = read(("convbench", [HEADER, *ROWS]))
    questions = ["<ImageHere>\nWhat is it?", "Why is it there?", ROWS[0][4]]
    assert [turn.question for turn in one.turns] == questions
    assert (one.item_id, one.images, one.turns[0].image_positions) == ("2", ("cat.png",), (1,))
    assert one.labels == {"image_path": "cat.png"} and one.images_may_be_absent
    assert (two.images, two.turns[0].question, two.turns[0].references) == ((), "Who?", {})
    assert said == []


def test_stray_values_and_columns_are_left_out_and_said() -> None:
    header = [*HEADER, "", "note", "Unnamed: 7"]
    rows = [[*ROWS[0], "stray", "x", "y", "beyond"], ["", "", "", "", "", "3"], ROWS[1]]
    items, said = read(("convbench", [header, *rows]))
    assert [item.item_id for item in items] == ["2", "37"]
    assert said == [
        "of 'convbench' the column 'note'",
        "4 values of 'convbench' in columns without a name",
        "1 row of 'convbench' without an ID and an instruction",
    ]


def test_a_short_row_is_not_compared_with_thousands_of_columns_without_a_name(monkeypatch) -> None:
    places: list[int] = []
    cell_of = published._cell
    monkeypatch.setattr(published, "_cell", lambda *at: places.append(at[1]) or cell_of(*at))
    items, said = read(("convbench", [[*HEADER, *[""] * 20_000], *ROWS]))
    assert len(items) == 2 and said == []
    assert len(places) < 50


def test_what_the_table_lacks_comes_from_others_by_id_whatever_they_are_called() -> None:
    (one, two), said = read(
        ("convbench", [HEADER, *ROWS]),
        ("references", [["id", "First turn reference", "second_turn_answer"], ["2", "R1", "R2"]]),
        ("third_turn", [["ID", "reference"], ["2", "R3"], ["37", "S3"], ["99", "?"], ["98", "?"]]),
        ("more", [["ID", "turn", "category"], ["2", "1", "OCR"], ["2", "3", "Blog Writing"]]),
        ("captions", [["ID", "instruction-conditioned caption"], ["2", "A cat."]]),
        ("Focus", [["ID", "focus points"], ["37", "It rhymes."]]),
        ("legend", [["colour", "meaning"], ["red", "stop"]]),
    )
    assert [dict(turn.references) for turn in one.turns] == [
        *({"answer": "R1", "caption": "A cat."}, {"answer": "R2"}, {"answer": "R3"})
    ]
    assert dict(two.turns[2].references) == {"answer": "S3", "focus": "It rhymes."}
    assert (one.labels["perception"], one.labels["creation"]) == ("OCR", "Blog Writing")
    assert said == [
        "2 IDs of 'third_turn' without an item",
        "the table 'legend', which has no ID or nothing that is known",
    ]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"t": [HEADER, ROWS[0], ROWS[0]]}, "two records have the ID '2'"),
        ({"t": [HEADER, ["", *ROWS[0][1:]]]}, "record 1 has no ID"),
        ({"t": [HEADER, [*ROWS[0][:3], " ", "x"]]}, "record 1 ('2') has no second instruction"),
        ({"t": [HEADER, [*ROWS[0][:3], "\xad", "x"]]}, "record 1 ('2') has no second instruction"),
        ({"t": [HEADER[1:], ROWS[0][1:]]}, "it has no column ID"),
        ({"t": [HEADER]}, "it has no records"),
        ({"a": TABLE, "b": TABLE}, "two of its tables have instructions: 'a' and 'b'"),
        (
            {"t": TABLE, "r": [["ID", "reference"], ["2", "R"]]},
            "record 1 of 'r' does not say which turn its reference is of: in a column turn (1 to 3), "
            "or in the name of the table",
        ),
        (
            {"t": TABLE, "turn 1": [["ID", "reference"], ["2", "R"], ["2", "S"]]},
            "'2' has two texts as the reference of turn 1",
        ),
        (
            {"t": [[*HEADER, "caption", "Caption"], [*ROWS[0], "a", "b"]]},
            "two columns of 't' have the caption",
        ),
        (
            {"t": [HEADER, [*ROWS[0][:2], "a <ImageHere>", *ROWS[0][3:]]]},
            "the item '2' has an <ImageHere>: its picture enters with turn 1",
        ),
    ],
)
def test_what_is_wrong_is_one_clause(tables: dict, message: str) -> None:
    assert clause_of(read, *tables.items()) == message


MORE = [
    ("second", [["ID", "reference", "category"], ["2", "=R2", "Meme Reasoning"]]),
    ("more", [["ID", "caption", "focus"], ["37", "A cat.", "It rhymes."]]),
]
MORE_COLUMNS = [
    *("second_turn_answer", "Second_turn_instruction_category"),
    *("instruction-conditioned-caption", "third_turn_demands"),
]


@pytest.mark.parametrize(("more", "columns"), [([], []), (MORE, MORE_COLUMNS)])
def test_everything_that_is_known_is_written_into_one_table_and_read_again(more, columns) -> None:
    items, _ = read(("convbench", [HEADER, *ROWS]), *more)
    text = written(items)
    assert list(read_published("convbench.csv", io.StringIO(text, newline=""))) == items
    assert text.splitlines()[0] == ",".join([*HEADER, *columns])


def test_sheets_and_a_folder_of_files_are_the_same_items(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    Picture.new("RGB", (64, 48), "red").save(tmp_path / "images" / "cat.png")
    rows = [[str(place), name, *ROWS[0][2:]] for place, name in enumerate(("cat.png", "gone.png"))]
    references = [["ID", "reference"], ["0", "=R0"], ["1", "R1"]]
    book = openpyxl.Workbook()
    sheets = (book.active, book.create_sheet("reasoning references"))
    for sheet, of in zip(sheets, ([HEADER, *rows], references), strict=True):
        for row in of:
            sheet.append(row)
        for cell in (cell for row in sheet.iter_rows() for cell in row):
            cell.data_type = "s"
    book.active.cell(2, 1, 0)
    book.save(tmp_path / "convbench.xlsx")
    (tmp_path / "tables").mkdir()
    items, _ = read(("t", [HEADER, *rows]))
    (tmp_path / "tables" / "convbench.csv").write_text("\ufeff" + written(items))
    (tmp_path / "tables" / "second_turn.csv").write_text("ID,reference\n0,=R0\n1,R1\n")

    def imported(file: str) -> tuple[list[Item], list[str]]:
        said: list[str] = []
        store = ImageStore(tmp_path / "store")
        return read_items(published, tmp_path / file, tmp_path / "images", store, said.append), said

    of_book, said = imported("convbench.xlsx")
    assert (of_book, said) == imported("tables")
    assert [item.turns[1].reference for item in of_book] == ["=R0", "R1"]
    assert [len(item.image_ids) for item in of_book] == [1, 0]
    assert of_book[1].labels["image_path"] == "gone.png"
    assert said == [f"pictures of 1 of 2 items are not in {tmp_path / 'images'}"]
