"""Which pass of which question a row of predictions is of."""

import csv

import pytest

from methods.evaluation.cells import FileRow
from methods.evaluation.items import Item
from methods.evaluation.predictions import PredictionError, PredictionKey, Unplaced, predictions_of
from methods.evaluation.published import PublishedItem
from methods.mmbench import predictions as mmbench_predictions
from methods.mmbench.predictions import places
from methods.mmbench.published import tsv_lines
from tests.methods.choice.questions import item

NUMBERED = [
    item("A", "cat", "dog", "NA", item_id="7"),
    item("B", "1.50", "2", item_id="241"),
]
NAMED = [item("A", "cat", "dog", item_id="x"), item("B", "red", "blue", item_id="y")]


def place(items: list[Item], **cells: str) -> PredictionKey | Unplaced:
    (found,) = places(items, [FileRow("record 1", cells)])
    return found


def key(item_id: str, shift: int) -> PredictionKey:
    return PredictionKey(item_id, f"shift-{shift}")


@pytest.mark.parametrize(
    ("index", "found"),
    [
        *((index, key("7", 0)) for index in ("7", "7.0", "0000007")),
        *((index, key("7", 1)) for index in ("1000007", "1.000007e+06")),
        ("2000007.0", key("7", 2)),
        ("1000241", key("241", 1)),
        # It has two choices, and so two passes.
        ("2000241", "unknown_pass"),
        *((index, "unknown") for index in ("8", "1000008", "", "-7", "²", "9" * 5000)),
    ],
)
def test_an_index_names_a_question_and_its_pass(index, found):
    assert place(NUMBERED, index=index) == found


def test_an_index_that_is_no_whole_number_is_refused_by_its_row() -> None:
    cells = [{"index": "7", "prediction": "A"}, {"index": "7.5"}]
    rows = [FileRow(f"record {number}", each) for number, each in enumerate(cells, 1)]
    with pytest.raises(PredictionError, match="record 2: its index '7.5' is not a whole number"):
        predictions_of(mmbench_predictions, NUMBERED, rows)


@pytest.mark.parametrize("ids", ["123", "xyz"])
def test_an_index_that_counts_from_0_is_refused_if_the_questions_are_counted_from_1(
    ids: str,
) -> None:
    items = [item("A", "cat", "dog", item_id=each) for each in ids]
    rows = [FileRow("record", {"index": index, "prediction": "A"}) for index in "012"]
    with pytest.raises(PredictionError, match=r"none has the last, 3\. Add 1 to every index"):
        predictions_of(mmbench_predictions, items, rows)
    assert (
        len(
            predictions_of(
                mmbench_predictions, items, [*rows, FileRow("r", {"index": "3", "prediction": "B"})]
            ).texts
        )
        == 3
    )


def test_g_index_or_the_place_or_the_id_names_the_question():
    assert place(NUMBERED, index="1000007", g_index="7") == key("7", 1)
    assert place(NUMBERED, index="99", g_index="7.0", A="dog", B="NA", C="cat") == key("7", 1)
    assert place(NUMBERED, index="7", g_index="8") == "unknown"
    # Where ids are no numbers an index is the place or the id.
    assert place(NAMED, index="2") == key("y", 0)
    assert place(NAMED, index="1000001") == key("x", 1)
    assert place(NAMED, index="x") == key("x", 0)
    assert place(NAMED, index="1000001", item_id="y") == key("y", 1)
    assert place(NAMED, index="1", item_id="z") == "unknown"
    # An index that is the id of one and the place of another names none.
    mixed = [item("A", "cat", "dog", item_id="2"), item("B", "red", "blue", item_id="y")]
    assert place(mixed, index="2") == "ambiguous"
    assert place(mixed, index="2", item_id="y") == key("y", 0)
    assert place(mixed, index="1") == key("2", 0)


def test_choices_say_which_pass_it_is_however_they_are_shifted_or_written():
    """The second pass of a file that shifts the other way is the third one here."""
    assert place(NUMBERED, index="1000007", A="dog", B="NA", C="cat") == key("7", 1)
    assert place(NUMBERED, index="1000007", A="NA", B="cat", C="dog") == key("7", 2)
    # Choices that tools have written otherwise are the same.
    # pandas takes NA for missing, and a spreadsheet has numbers.
    assert place(NUMBERED, index="7", A="cat", B="dog", C="") == key("7", 0)
    assert place(NUMBERED, index="1000241", A="2.0", B="1.5") == key("241", 1)
    assert place(NUMBERED, index="7", A=" cat ", B="dog", C="NA") == key("7", 0)


@pytest.mark.parametrize("choices", ["cat", "cat dog cow", "dog cat NA", "cat dog NA cow"])
def test_other_choices_are_another_question(choices: str) -> None:
    cells = dict(zip("ABCD", choices.split(), strict=False))
    assert place(NUMBERED, index="7", **cells) == "other_choices"


@pytest.mark.parametrize("items", [NUMBERED, NAMED])
@pytest.mark.parametrize("columns", [("index",), None])
def test_rows_of_the_exported_circular_file_are_every_pass_in_order(items, columns):
    published = [PublishedItem(each.item_id, each.turns, (b"p",), each.choices) for each in items]
    lines = tsv_lines(published, lambda path: b"", circular=True)
    rows = [
        FileRow("record", {name: row[name] for name in columns or row})
        for row in csv.DictReader(lines, delimiter="\t")
    ]
    passes = [key(each.item_id, shift) for each in items for shift in range(len(each.choices))]
    assert places(items, rows) == passes
