"""Files of predictions and of people's scores: cells, indexes, and every record counted."""

import base64
from collections.abc import Sequence
from datetime import datetime

import pytest

from methods.evaluation.cells import FileRow, ImageCells, image_cells, text_of
from methods.evaluation.human_scores import REASONS as SCORE_REASONS
from methods.evaluation.human_scores import (
    HumanScoreKey,
    HumanScoresError,
    RatingScope,
    human_scores_of,
)
from methods.evaluation.indexes import known_id, whole_id, whole_index
from methods.evaluation.items import Item, Turn
from methods.evaluation.predictions import (
    MOST_CHARACTERS,
    REASONS,
    PredictionError,
    PredictionKey,
    predictions_of,
)
from methods.evaluation.published import PublishedError
from tests.methods.choice.questions import item

RED, BLUE = b"\x89PNG red", b"\xff\xd8 blue"
IN_RED, IN_BLUE = (base64.b64encode(each).decode() for each in (RED, BLUE))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (float("nan"), ""),
        # Texts, whatever tools take them for.
        ("None", "None"),
        ("", ""),
        (7.0, "7"),
        (float("inf"), "inf"),
        (True, "True"),
        (datetime(2024, 1, 2, 3, 4), "2024-01-02 03:04:00"),
        (datetime(2024, 1, 2), "2024-01-02"),
        (b"caf\xc3\xa9", "café"),
        (["a", "b"], "['a', 'b']"),
        ({"a": ["é", None]}, '{"a": ["é", null]}'),
        (2.0**53 - 1, "9007199254740991"),
        (-(2.0**53), "-9007199254740992.0"),
        (1e308, "1e+308"),
    ],
)
def test_a_value_is_the_text_of_a_cell(value: object, text: str) -> None:
    assert text_of(value) == text


def test_bytes_that_are_no_text_and_images_inside_and_by_path_are_refused():
    with pytest.raises(UnicodeDecodeError):
        text_of(b"\xff\xfe")
    with pytest.raises(PublishedError, match="record 1 has some images inside and some by path"):
        image_cells("record 1", [{"bytes": RED}, {"path": "b.png"}])


BOTH = repr([IN_RED, IN_BLUE])


@pytest.mark.parametrize(
    ("value", "cells"),
    [
        (None, ("", "")),
        (IN_RED, (IN_RED, "")),
        # Hugging Face keeps the name that the file had.
        ({"bytes": RED, "path": "red.png"}, (IN_RED, "")),
        ({"bytes": None, "path": "red.png"}, ("", "red.png")),
        # The index of the row that has the image.
        (241, ("241", "")),
        ([IN_RED, IN_BLUE], (BOTH, "")),
        ([{"path": "a"}, {"bytes": None, "path": "b"}], ("", "['a', 'b']")),
        ([], ("", "")),
    ],
)
def test_an_image_is_base64_or_a_path(value: object, cells: tuple[str, str]) -> None:
    assert image_cells("record 1", value) == ImageCells(*cells)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (" 1.0 ", "1"),
        ("1.000001e+06", "1000001"),
        ("0000001", "1"),
        ("-1.0", "-1"),
        ("", ""),
        ("12e45678", "12e45678"),
    ],
)
def test_a_whole_number_is_read_as_such(text: str, read: str) -> None:
    assert whole_index("record 1", "index", text) == read


@pytest.mark.parametrize("text", ["1.5", "1.5e-05", "1e-2", "1.2345678901234567e+18"])
def test_another_number_is_refused_by_its_row(text: str) -> None:
    with pytest.raises(PublishedError) as caught:
        whole_index("record 3", "index", text)
    assert str(caught.value) == f"record 3: its index '{text}' is not a whole number"


def test_an_id_stays_as_it_is_but_for_a_float_and_a_known_id_is_that_id() -> None:
    assert [whole_id("r", "id", text) for text in ("007", " a", " 7.0")] == ["007", " a", "7"]
    row = FileRow("record 1", {"item": "1.50", "id": "2.0"})
    assert known_id(row, "item", {"1.50"}) == "1.50"
    assert known_id(row, "id", {"2"}) == "2"
    with pytest.raises(PublishedError):
        known_id(row, "item", {"1"})


ITEMS = [item("A", "x", "y", item_id="1"), item("B", "x", "y", item_id="2")]


class ById:
    """A benchmark whose rows name an item."""

    def places(self, items: Sequence[Item], rows: Sequence[FileRow]):
        known = {each.item_id for each in items}
        ids = [row.cells["id"] for row in rows]
        return [PredictionKey(each, "plain") if each in known else "unknown" for each in ids]


def rows(*of: tuple[str, str], column: str = "prediction") -> list[FileRow]:
    cells = [{"id": item_id, column: text} for item_id, text in of]
    return [FileRow(f"record {number}", each) for number, each in enumerate(cells, start=1)]


def error(*of: tuple[str, str], column: str = "prediction") -> str:
    with pytest.raises(PredictionError) as caught:
        predictions_of(ById(), ITEMS, rows(*of, column=column))
    return str(caught.value)


def key(item_id: str) -> PredictionKey:
    return PredictionKey(item_id, "plain")


def test_each_record_is_a_prediction_or_is_counted() -> None:
    of = [("1", "A"), ("1", "A"), ("1", "A"), ("2", " \n"), ("3", "A"), ("x", "A")]
    found = predictions_of(ById(), ITEMS, rows(*of))
    assert found.texts == {key("1"): "A", key("2"): " \n"}
    assert found.counts == {"repeated": 2, "empty": 1, "unknown": 2}
    # An empty one does not count.
    assert (found.n_rows, found.n_items) == (6, 1)
    # The first and the one that differs; the third says what the first said.
    found = predictions_of(ById(), ITEMS, rows(("1", "A"), ("1", "B"), ("1", "A"), ("2", "B")))
    assert (found.texts, found.n_items) == ({key("2"): "B"}, 1)
    assert found.counts == {"contradicting": 2, "repeated": 1}


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
    assert error(("1", "A"), ("2", " B"), column="output") == (
        "Its column output has the right answers, as the benchmark's own file has them: call the "
        "column of the predictions prediction."
    )


def test_columns_and_reasoning_are_read_and_the_order_is_nothing_to_the_hash():
    both = [FileRow("record 1", {"id": "1", "pred": "it is B", "output": "A"})]
    assert predictions_of(ById(), ITEMS, both).texts == {PredictionKey("1", "plain"): "it is B"}
    alone = rows(("1", "B"), ("2", "B"), column="output")
    assert len(predictions_of(ById(), ITEMS, alone).texts) == 2
    keyless = [Item(each.item_id, (Turn(1, "What?"),)) for each in ITEMS]
    assert len(predictions_of(ById(), keyless, alone).texts) == 2
    # Reasoning that was cut off is counted.
    found = predictions_of(ById(), ITEMS, rows(("1", "<think>It is A"), ("2", "So A.</think>B")))
    assert found.counts == {"reasoning_only": 1}
    assert REASONS["reasoning_only"] == "with reasoning and no answer, which get the lowest score"
    # The same predictions in any order have the same hash.
    first = predictions_of(ById(), ITEMS, rows(("1", "A"), ("2", "B")))
    again = predictions_of(ById(), ITEMS, rows(("2", "B"), ("1", "A"), ("1", "A")))
    other = predictions_of(ById(), ITEMS, rows(("1", "B"), ("2", "A")))
    assert first.content_hash == again.content_hash != other.content_hash


SCORED_ITEMS = [
    Item("one", (Turn(1, "What?"),)),
    # The first turn is the benchmark's own.
    Item("last", (Turn(1, "Look.", given="I looked."), Turn(2, "And?"))),
    Item("two", (Turn(1, "What?"), Turn(2, "Why?"))),
]
RATED = RatingScope(SCORED_ITEMS, {"a", "file:a", "file:b"}, ("Richness", "Overall"), 1, 10)


def records(*cells, **every):
    return [FileRow(f"record {n}", {**every, **each}) for n, each in enumerate(cells, 1)]


def score_of(item="one", model="a", score="7", **more):
    return {"item": item, "model": model, "score": score, **more}


def overall(item="one", model="a", turn=1, rater=""):
    return HumanScoreKey(item, model, turn, "Overall", rater)


def test_what_a_record_leaves_out_follows_from_the_release():
    of_dimension = score_of("two", turn="2", score="3", rater="ann", dimension="Richness")
    cells = (score_of(score="1"), score_of("last", "b", " 10 "), of_dimension)
    found = human_scores_of(RATED, records(*cells))
    assert found.scores == {
        overall(): 1,
        # The one turn that models are asked.
        overall("last", "file:b", 2): 10,
        HumanScoreKey("two", "a", 2, "Richness", "ann"): 3,
    }
    assert (found.counts, found.n_rows) == ({}, 3)
    # An item may be named as published.
    published = {"question_id": "one", "model": "a", "score": "7"}
    assert human_scores_of(RATED, records(published)).scores == {overall(): 7}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (score_of("three"), "unknown_item"),
        (score_of(model="c"), "unknown_model"),
        (score_of(turn="2"), "unknown_turn"),
        ({"item": "one", "score": "7"}, "unknown_model"),
        ({"item": "one", "model": "a"}, "empty"),
        (score_of("two"), "turn_missing"),
        (score_of(dimension="Style"), "unknown_dimension"),
        (score_of(score=""), "empty"),
        (score_of(score="1_0"), "no_number"),
        (score_of(score="nan"), "no_number"),
        (score_of(score="10.5"), "off_the_scale"),
        (score_of(score="0.5"), "off_the_scale"),
    ],
)
def test_what_matches_nothing_is_counted_by_reason(wrong, reason):
    found = human_scores_of(RATED, records(score_of("last"), wrong))
    assert (found.scores, found.counts) == ({overall("last", turn=2): 7}, {reason: 1})
    assert reason in SCORE_REASONS


def test_a_turn_and_an_item_that_were_floats_are_whole_numbers():
    found = human_scores_of(RATED, records(score_of("two", turn="2.0"), score_of(" one ")))
    assert set(found.scores) == {overall("two", turn=2), overall()}
    with pytest.raises(HumanScoresError, match="record 1: its turn '1.5' is not a whole number"):
        human_scores_of(RATED, records(score_of("two", turn="1.5")))


def test_a_rater_has_one_score_of_an_answer():
    given = {"ann": ("7", "7.0"), "bob": ("7", "8", "7", "9")}
    cells = [score_of(rater=rater, score=each) for rater, of in given.items() for each in of]
    found = human_scores_of(RATED, records(*cells))
    assert found.scores == {overall(rater="ann"): 7}
    assert found.counts == {"repeated": 2, "contradicting": 3}


def test_reasons_are_kept_and_part_of_what_the_file_says():
    reasons = ("Well said.", " Good. ", "Yes.", "")
    repeated = [score_of(rater="ann", reason=reason) for reason in reasons]
    contradicting = [score_of(rater="cho", score=score, reason="why") for score in ("1", "2")]
    cells = [*repeated, score_of(rater="bob"), *contradicting]
    found = human_scores_of(RATED, records(*cells))
    assert found.reasons == {overall(rater="ann"): "Good."}
    plain = human_scores_of(RATED, records(score_of(rater="ann"), score_of(rater="bob")))
    assert plain.scores == found.scores and plain.reasons == {}
    assert plain.content_hash != found.content_hash


def test_nothing_matches_is_one_sentence_with_the_counts():
    with pytest.raises(HumanScoresError) as caught:
        human_scores_of(RATED, records(score_of("x"), score_of("y"), score_of(score="")))
    assert str(caught.value) == (
        "None of its 3 records is a score of an answer on the release (1 are without a score; 2 are of "
        "an item that the release does not have): say the release that was scored."
    )
    with pytest.raises(HumanScoresError, match="has no answers.*: say the release"):
        human_scores_of(RATED, records(score_of(model="c")))
    # Another release would not help.
    with pytest.raises(HumanScoresError, match="without a score\\): correct these records"):
        human_scores_of(RATED, records(score_of(score="")))


@pytest.mark.parametrize("column", ["item", "model", "score"])
def test_a_column_that_is_not_there_is_named(column):
    cells = score_of()
    del cells[column]
    named = "item or question_id" if column == "item" else column
    with pytest.raises(HumanScoresError, match=f"It has no column {named}; the"):
        human_scores_of(RATED, records(cells))


def test_the_order_and_repeats_of_records_are_nothing_to_the_hash():
    given = [score_of(rater="ann"), score_of("last"), score_of("two", turn="1", score="3")]
    found = human_scores_of(RATED, records(*given))
    again = human_scores_of(RATED, records(*given[::-1], given[0]))
    assert again.content_hash == found.content_hash and again.counts == {"repeated": 1}
