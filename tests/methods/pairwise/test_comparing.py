"""What a judge is told of two answers, what came of a comparison, and rows of ratings."""

import json

import pytest

from methods.evaluation.asking import Answer, Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.verdicts import MODEL_FIRST, MODEL_SECOND, ORDERS, read_comparison
from methods.pairwise.comparing import (
    FLOOR,
    JUDGED,
    PREFERENCE,
    ArenaComparison,
    arena_winner,
    battles_in,
    first_place_share,
    references_as_answers,
    requests,
    unanswered,
    units_of,
)
from methods.pairwise.ratings import NO_BATTLES
from methods.pairwise.style import NO_VARIANCE
from methods.pairwise.summary import rating_rows

ITEM = Item(
    "i",
    (
        Turn(1, "What is <image>?", (1,), {"answer": "A mill."}),
        Turn(2, "Agreed?", given="Yes."),
        Turn(3, "And <image>?", (2,), {"answer": "A lake."}),
    ),
    ("p", "q"),
    group_id="g",
)


def transcript(name):
    return Transcript({("plain", n): Answer("answered", f"{name}{n}", name) for n in (1, 3)})


def test_units_are_turns_that_models_answer_and_references_stand_for_answers():
    units = [(unit.item_id, unit.turn, unit.cluster) for unit in units_of([ITEM])]
    assert units == [("i", 1, "g"), ("i", 3, "g")]
    # References stand in the place of answers.
    answers = references_as_answers(ITEM)
    assert answers.answer("plain", 3).text == "A lake."
    assert answers.answer("plain", 2).text is None


def test_both_orders_show_the_two_with_their_own_earlier_answers():
    first, second = requests(ITEM, 3, transcript("x"), transcript("y"), reference=True)
    assert [each.place.part for each in (first, second)] == list(ORDERS)
    assert (first.data["a"], first.data["b"]) == ("x3", "y3")
    assert (second.data["a"], second.data["b"]) == ("y3", "x3")
    asked, given = first.data["earlier"]
    assert (asked["a"], asked["b"], asked["given"]) == ("x1", "y1", None)
    assert given["given"] == "Yes."
    assert first.data["reference"] == "A lake."
    assert first.images == second.images == ("p", "q")


def test_the_judge_sees_no_names_no_later_images_and_a_reference_only_if_told():
    (first, _) = requests(ITEM, 1, transcript("x"), transcript("y"), reference=False)
    assert first.images == ("p",)
    assert (first.data["reference"], first.data["earlier"]) == ("", [])
    assert set(first.data) == {"earlier", "instruction", "reference", "a", "b"}


@pytest.mark.parametrize(
    ("winner", "shares", "arena", "first_place"),
    [("A", (1, 0), "model_a", 1), ("B", (0, 1), "model_b", 0), ("tie", (0.5, 0.5), "tie", 0.5)],
)
def test_a_verdict_is_the_first_models_share_and_a_winner_by_place(
    winner, shares, arena, first_place
):
    reply = json.dumps({"reason": "So.", "winner": winner})
    for order, share in zip((MODEL_FIRST, MODEL_SECOND), shares, strict=True):
        read = read_comparison(reply, PREFERENCE, order)
        assert (read.score, read.explanation) == (share, "So.")
        assert arena_winner(read.score, order) == arena
        assert first_place_share(read.score, order) == first_place


def test_who_gave_no_answer_is_told_by_place():
    some, none = Answer("answered", "x"), Answer("failed")
    assert unanswered(some, some, MODEL_FIRST) is None
    assert unanswered(none, some, MODEL_FIRST) == "no_answer_a"
    assert unanswered(none, some, MODEL_SECOND) == "no_answer_b"
    assert unanswered(none, none, MODEL_SECOND) == "no_answer"


def test_no_answer_loses_at_the_floor_alone_and_a_lost_verdict_never():
    rows = [
        ArenaComparison("i", 1, "g", "x", "y", status, winner)
        for status, winner in [
            *(("judged", "model_b"), ("not_judged", None)),
            *(("no_answer_a", None), ("no_answer_b", None), ("no_answer", None)),
        ]
    ]
    assert [battle.outcome for battle in battles_in(rows, JUDGED)] == [0]
    assert [battle.outcome for battle in battles_in(rows, FLOOR)] == [0, 0, 1, 0.5]


STYLE = (0.0, 0.0, 0.0, 0.0)


def pair(item, first, second, *, winner=None, status="judged"):
    """Both orders of a comparison that `winner` (a name, or None for a tie) won."""
    rows = []
    for a, b in ((first, second), (second, first)):
        won = {a: "model_a", b: "model_b"}.get(winner, "tie")
        lost = "no_answer_a" if a == status else "no_answer_b"
        found = ("judged", won, STYLE) if status == "judged" else (lost,)
        rows.append(ArenaComparison(item, 1, item, a, b, *found))
    return rows


def summary(rows):
    ratings, biases = rating_rows(rows, seed=0, n_resamples=100, n_style_resamples=100)
    by_form = {(row["form"], row["model"]): row for row in ratings}
    return by_form, {row["bias"]: row for row in biases}


def test_a_model_that_fails_half_the_time_is_as_good_as_its_answers_and_ranks_by_all():
    rows = [each for n in range(10) for each in pair(f"i{n}", "x", "y", winner="xy"[n % 2])]
    rows += [each for n in range(10) for each in pair(f"j{n}", "x", "y", status="y")]
    ratings, biases = summary(rows)
    # Who wins, wins in both orders.
    assert (biases["first_place"]["value"], biases["first_place"]["n"]) == (0.5, 20)
    assert ratings[JUDGED, "x"]["rating"] == ratings[JUDGED, "y"]["rating"]
    assert ratings[FLOOR, "x"]["rank"] == 1 and ratings[FLOOR, "y"]["rank"] == 2
    assert (ratings[FLOOR, "x"]["n"], ratings[JUDGED, "x"]["n"]) == (40, 20)
    assert ratings[FLOOR, "x"]["win_share"] == 0.75
    assert ratings[FLOOR, "x"]["controlled_rating"] is None
    assert ratings[JUDGED, "x"]["controlled_rating"] is not None


def test_a_model_without_any_answer_has_a_rating_at_the_floor_alone():
    rows = [each for n in range(8) for each in pair(f"i{n}", "x", "y", winner="x")]
    rows += [each for n in range(8) for each in pair(f"i{n}", "x", "z", status="z")]
    ratings, biases = summary(rows)
    none = ratings[JUDGED, "z"]
    assert (none["rating"], none["reason"], none["n"]) == (None, NO_BATTLES, 0)
    assert ratings[FLOOR, "z"]["rating"] is not None
    # It is a part of its own, and keeps nobody else from a rating at equal style.
    assert ratings[JUDGED, "x"]["controlled_rating"] is not None
    assert biases["words"]["reason"] == NO_VARIANCE
