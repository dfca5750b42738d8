"""What a file of people's scores comes to: every record counted, nothing guessed."""

import pytest

from methods.evaluation.cells import FileRow
from methods.evaluation.human_scores import (
    REASONS,
    HumanScoreKey,
    HumanScoresError,
    RatingScope,
    human_scores_of,
)
from methods.evaluation.items import Item, Turn

ITEMS = [
    Item("one", (Turn(1, "What?"),)),
    # The first turn is the benchmark's own.
    Item("last", (Turn(1, "Look.", given="I looked."), Turn(2, "And?"))),
    Item("two", (Turn(1, "What?"), Turn(2, "Why?"))),
]
RATED = RatingScope(ITEMS, {"a", "file:b"}, ("Richness", "Overall"), 1, 10)


def rows(*cells, **every):
    return [FileRow(f"record {n}", {**every, **each}) for n, each in enumerate(cells, 1)]


def record(item="one", model="a", score="7", **more):
    return {"item": item, "model": model, "score": score, **more}


def overall(item="one", model="a", turn=1, rater=""):
    return HumanScoreKey(item, model, turn, "Overall", rater)


def test_what_a_record_leaves_out_follows_from_the_release():
    found = human_scores_of(
        RATED,
        rows(
            record(score="1"),
            # The one turn that models are asked.
            record("last", "b", " 10 "),
            record("two", turn="2", score="3", rater="ann", dimension="Richness"),
        ),
    )
    assert found.scores == {
        overall(): 1,
        overall("last", "file:b", 2): 10,
        HumanScoreKey("two", "a", 2, "Richness", "ann"): 3,
    }
    assert (found.counts, found.n_rows) == ({}, 3)
    # An item may be named as published.
    published = {"question_id": "one", "model": "a", "score": "7"}
    assert human_scores_of(RATED, rows(published)).scores == {overall(): 7}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (record("three"), "unknown_item"),
        (record(model="c"), "unknown_model"),
        (record(model=""), "unknown_model"),
        (record(turn="2"), "unknown_turn"),
        (record("last", turn="1"), "unknown_turn"),
        (record("two"), "turn_missing"),
        (record(dimension="Style"), "unknown_dimension"),
        (record(score=""), "empty"),
        (record(score="good"), "no_number"),
        (record(score="1_0"), "no_number"),
        (record(score="nan"), "no_number"),
        (record(score="inf"), "off_the_scale"),
        (record(score="0"), "off_the_scale"),
        (record(score="10.5"), "off_the_scale"),
    ],
)
def test_what_matches_nothing_is_counted_by_reason(wrong, reason):
    found = human_scores_of(RATED, rows(record("last"), wrong))
    assert (found.scores, found.counts) == ({overall("last", turn=2): 7}, {reason: 1})
    assert reason in REASONS


def test_a_turn_and_an_item_that_were_floats_are_whole_numbers():
    found = human_scores_of(RATED, rows(record("two", turn="2.0"), record(" one ")))
    assert set(found.scores) == {overall("two", turn=2), overall()}
    with pytest.raises(HumanScoresError, match="record 1: its turn '1.5' is not a whole number"):
        human_scores_of(RATED, rows(record("two", turn="1.5")))


def test_a_rater_has_one_score_of_an_answer():
    found = human_scores_of(
        RATED,
        rows(
            *(record(rater="ann"), record(rater="ann", score="7.0")),
            *(record(rater="bob", score=score) for score in ("7", "8", "7", "9")),
        ),
    )
    assert found.scores == {overall(rater="ann"): 7}
    assert found.counts == {"repeated": 2, "contradicting": 3}


def test_reasons_are_kept_and_part_of_what_the_file_says():
    found = human_scores_of(
        RATED,
        rows(
            *(record(rater="ann", reason=reason) for reason in ("Well said.", " Good. ", "")),
            record(rater="bob"),
            *(record(rater="cho", score=score, reason="why") for score in ("1", "2")),
        ),
    )
    assert found.reasons == {overall(rater="ann"): "Good."}
    plain = human_scores_of(RATED, rows(record(rater="ann"), record(rater="bob")))
    assert plain.scores == found.scores and plain.reasons == {}
    assert plain.content_hash != found.content_hash


def test_nothing_matches_is_one_sentence_with_the_counts():
    with pytest.raises(HumanScoresError) as caught:
        human_scores_of(RATED, rows(record("x"), record("y"), record(score="")))
    assert str(caught.value) == (
        "None of its 3 records is a score of an answer on the release (1 are without a score; 2 are of "
        "an item that the release does not have): say the release that was scored."
    )
    # Another release would not help.
    with pytest.raises(HumanScoresError, match="without a score\\): correct these records"):
        human_scores_of(RATED, rows(record(score="")))


@pytest.mark.parametrize(
    ("column", "said"),
    [("item", "item or question_id"), ("model", "model"), ("score", "score")],
)
def test_a_column_that_is_not_there_is_named(column, said):
    cells = record()
    del cells[column]
    with pytest.raises(HumanScoresError, match=f"It has no column {said}; the"):
        human_scores_of(RATED, rows(cells))


def test_the_order_and_repeats_of_records_are_nothing_to_the_hash():
    records = [record(rater="ann"), record("last"), record("two", turn="1", score="3")]
    found = human_scores_of(RATED, rows(*records))
    again = human_scores_of(RATED, rows(*records[::-1], records[0]))
    assert again.content_hash == found.content_hash and again.counts == {"repeated": 1}
