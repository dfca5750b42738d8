"""What a file of predictions comes to: every record counted, nothing guessed."""

from collections.abc import Sequence

import pytest

from methods.evaluation.cells import FileRow
from methods.evaluation.items import Item
from methods.evaluation.predictions import (
    MOST_CHARACTERS,
    REASONS,
    PredictionError,
    PredictionKey,
    predictions_of,
)
from tests.methods.choice.questions import item

ITEMS = [item("A", "x", "y", item_id="1"), item("B", "x", "y", item_id="2")]


class ById:
    """A benchmark whose rows name an item."""

    def places(self, items: Sequence[Item], rows: Sequence[FileRow]):
        known = {each.item_id for each in items}
        ids = [row.cells["id"] for row in rows]
        return [PredictionKey(each, "plain") if each in known else "unknown" for each in ids]


def rows(*of: tuple[str, str], column: str = "prediction") -> list[FileRow]:
    return [
        FileRow(f"record {number}", {"id": item_id, column: text})
        for number, (item_id, text) in enumerate(of, start=1)
    ]


def error(*of: tuple[str, str], column: str = "prediction") -> str:
    with pytest.raises(PredictionError) as caught:
        predictions_of(ById(), ITEMS, rows(*of, column=column))
    return str(caught.value)


def key(item_id: str) -> PredictionKey:
    return PredictionKey(item_id, "plain")


@pytest.mark.parametrize(
    ("of", "texts", "counts"),
    [
        (
            [("1", "A"), ("1", "A"), ("1", "A"), ("2", " \n"), ("3", "A"), ("x", "A")],
            {key("1"): "A", key("2"): " \n"},
            {"repeated": 2, "empty": 1, "unknown": 2},
        ),
        # The first and the one that differs; the third says what the first said.
        (
            [("1", "A"), ("1", "B"), ("1", "A"), ("2", "B")],
            {key("2"): "B"},
            {"contradicting": 2, "repeated": 1},
        ),
    ],
)
def test_each_record_is_a_prediction_or_is_counted(of, texts, counts) -> None:
    found = predictions_of(ById(), ITEMS, rows(*of))
    assert (found.texts, found.counts) == (texts, counts)
    # An empty one does not count.
    assert (found.n_rows, found.n_items) == (len(of), 1)


def test_a_file_that_is_not_of_the_release_or_not_of_predictions_is_one_sentence() -> None:
    for useless in ([("1", ""), ("2", " ")], [("1", "A"), ("1", "B")]):
        assert error(*useless) == (
            "None of its 2 records has a prediction that counts: all are empty, or contradict each "
            "other."
        )
    assert error(("8", "A"), ("9", "A")) == (
        "None of its 2 records is of a question of the release (record 1 names none): say the release "
        "that it was made on."
    )
    named = error(("1", "A"), column="answer")
    assert named == "It has no column prediction; there are 'answer', 'id'."
    assert "It has no records" in error()
    assert error(("1", "A"), ("2", "A" * (MOST_CHARACTERS + 1))) == (
        "record 2 has a prediction of more than 1,000,000 characters."
    )
    assert error(("1", "A"), ("2", "B"), column="output") == (
        "Its column output has the right answers, as the benchmark's own file has them: call the "
        "column of the predictions prediction."
    )


def test_columns_and_reasoning_are_read_and_the_order_is_nothing_to_the_hash():
    both = [FileRow("record 1", {"id": "1", "pred": "it is B", "output": "A"})]
    assert predictions_of(ById(), ITEMS, both).texts == {PredictionKey("1", "plain"): "it is B"}
    alone = rows(("1", "B"), ("2", "B"), column="output")
    assert len(predictions_of(ById(), ITEMS, alone).texts) == 2
    # Reasoning that was cut off is counted.
    found = predictions_of(ById(), ITEMS, rows(("1", "<think>It is A"), ("2", "So A.</think>B")))
    assert found.counts == {"reasoning_only": 1}
    assert REASONS["reasoning_only"] == "with reasoning and no answer, which get the lowest score"
    # The same predictions in any order have the same hash.
    first = predictions_of(ById(), ITEMS, rows(("1", "A"), ("2", "B")))
    again = predictions_of(ById(), ITEMS, rows(("2", "B"), ("1", "A"), ("1", "A")))
    other = predictions_of(ById(), ITEMS, rows(("1", "B"), ("2", "A")))
    assert first.content_hash == again.content_hash != other.content_hash
