"""Files as other tools wrote them, read as what they mean or refused; skipped without these files."""

from pathlib import Path

import pytest

from methods.evaluation.items import Item
from methods.evaluation.predictions import PredictionError
from methods.mmbench import published
from resources.files.home import REPO_ROOT
from resources.images.store import ImageStore
from resources.importing.answer_files import read_rows
from resources.importing.published_files import PublishedFileError, read_items

SAMPLES = REPO_ROOT.parent / "shared/data/public_reports"
FLOATS, QUOTES, ESCAPES = (
    SAMPLES / name for name in ("18-float-index", "19-stray-quote", "22-x000D")
)

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"there is no folder {SAMPLES}")


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path / "images")


def summary(items: list[Item]) -> list[tuple[str, tuple[str, ...], str | None]]:
    return [(item.item_id, item.choices, item.turns[0].references.get("key")) for item in items]


@pytest.mark.parametrize(
    "name",
    [
        "e_notation",
        "float_group",
        "float_group_only",
        "float_inside",
        "float_ref",
        "padded",
        "whole",
    ],
)
def test_a_circular_file_whose_index_was_a_float_is_two_questions(name, store):
    items = read_items(published, FLOATS / f"{name}.tsv", None, store)
    assert summary(items) == [
        ("1", ("cat", "horse", "bird", "dog"), "B"),
        ("2", ("red", "green", "blue", "grey"), "A"),
    ]


@pytest.mark.parametrize(
    "name", ["last_column", "last_column_inch", "lone", "question", "question_last"]
)
def test_a_quote_that_swallows_rows_is_refused_with_its_line(name, store):
    file = QUOTES / f"{name}.tsv"
    with pytest.raises(PublishedFileError, match=r"opens on line 3.*--quoting none"):
        read_items(published, file, None, store)
    assert len(read_items(published, file, None, store, quoting="none")) == 6


@pytest.mark.parametrize("name", ["clean", "choice", "quoted_word"])
def test_a_quote_that_swallows_nothing_is_no_reason_to_refuse(name, store):
    items = read_items(published, QUOTES / f"{name}.tsv", None, store)
    assert [item.item_id for item in items] == list("123456")
    unquoted = read_items(published, QUOTES / f"{name}.tsv", None, store, quoting="none")
    assert [item.turns[0].question for item in items] == [
        item.turns[0].question for item in unquoted
    ]


@pytest.mark.parametrize("name", ["lone.csv", "lone.tsv"])
def test_predictions_with_a_lone_quote_are_refused_with_its_line(name):
    with pytest.raises(PredictionError, match=r"opens on line 2.*--quoting none"):
        read_rows(QUOTES / "preds" / name)
    assert len(read_rows(QUOTES / "preds" / name, "none")) == 3


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("preds", ["B\r\n", "The answer is A.\r\nThe house is red.\r"]),
        ("preds_mixed", ["B", "A\r\n\nThe house is red.", "The answer is A\r"]),
        ("preds_newline", ["B\n", "The answer is A.\nThe house is red."]),
        ("preds_others", ["B\a", "\rA", "A_x000D_"]),
    ],
)
def test_escapes_of_a_spreadsheet_are_characters(name, texts):
    rows = read_rows(ESCAPES / f"{name}.xlsx")
    assert [row.cells["prediction"] for row in rows] == texts
