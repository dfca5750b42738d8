"""Differences of two contents: which words went and came, and which texts stand opposite each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.review.differences import MOST_COMPARED, differences, word_differences


def turn(question, answer):
    return {"question": question, "answer": answer}


def test_words_are_compared_and_spaces_kept():
    assert word_differences("A red tower.", "A blue tower!") == [
        ("same", "A "),
        ("removed", "red"),
        ("added", "blue"),
        ("same", " tower"),
        ("removed", "."),
        ("added", "!"),
    ]
    assert word_differences("", "New.") == [("added", "New.")]
    assert word_differences("", "") == []


@given(st.text(), st.text())
def test_the_pieces_give_both_texts_back(before, after):
    pieces = word_differences(before, after)

    assert "".join(text for op, text in pieces if op != "added") == before
    assert "".join(text for op, text in pieces if op != "removed") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("One. " * 400, "a " * 3_000),
        ("a " * 1_900, "a " * 1_900 + "b"),
        (" ".join(map(str, range(1_900))), " ".join(map(str, reversed(range(1_900))))),
        ("", "a " * 1_000_000),
    ],
)
def test_no_edit_takes_long_to_compare(before, after):
    pieces = word_differences(before, after)

    assert "".join(text for op, text in pieces if op != "added") == before
    assert "".join(text for op, text in pieces if op != "removed") == after


def test_very_long_texts_are_not_compared():
    before = "Where? " * MOST_COMPARED
    assert word_differences(before, before) == [("same", before)]
    assert word_differences(before, f"{before}!") == [("removed", before), ("added", f"{before}!")]


def test_texts_stand_opposite_those_of_their_label():
    before = {"question": "Q", "choices": {"A": "mill", "B": "tower"}, "answer": "A"}
    before |= {"hint": None, "category": "c", "image_ids": []}
    after = before | {"choices": {"A": "mill"}, "hint": "Look."}

    assert differences("multiple_choice", before, after) == [
        ("Question", [("same", "Q")]),
        ("Hint", [("added", "Look.")]),
        ("Choice A", [("same", "mill")]),
        ("Answer", [("same", "A")]),
        ("Category", [("same", "c")]),
        ("Choice B", [("removed", "tower")]),
    ]


def test_a_turn_put_in_between_leaves_the_others_as_they_are():
    first, last = turn("Where?", "Here."), turn("When?", "Now.")
    new = turn("Why?", "So.")

    found = differences("dialogue", {"turns": [first, last]}, {"turns": [first, new, last]})

    assert [(label, [op for op, _ in pieces]) for label, pieces in found] == [
        ("Question 1", ["same"]),
        ("Answer 1", ["same"]),
        ("Question 2", ["added"]),
        ("Answer 2", ["added"]),
        ("Question 3", ["same"]),
        ("Answer 3", ["same"]),
    ]


def test_a_dialogue_of_very_many_turns_is_compared_by_their_numbers():
    before = [turn("Where?", "Here.")] * 20_000
    after = [*before[:-1], turn("When?", "Here.")]

    found = differences("dialogue", {"turns": before}, {"turns": after})

    changed = [(label, pieces) for label, pieces in found if pieces[0][0] != "same"]
    assert len(found) == 40_000
    assert changed == [
        ("Question 20000", [("removed", "Where"), ("added", "When"), ("same", "?")]),
    ]


def test_the_texts_of_an_item_are_compared_up_to_a_limit_together():
    text = "Where? " * (MOST_COMPARED // 8)
    before, after = [turn(text, "Here.")] * 3, [turn(f"{text}!", "There.")] * 3

    found = differences("dialogue", {"turns": before}, {"turns": after})

    whole = [("removed", text), ("added", f"{text}!")]
    assert found[0] == ("Question 1", [("same", text), ("added", "!")])
    assert [pieces for label, pieces in found if label in ("Question 2", "Question 3")] == [
        whole
    ] * 2
    assert found[-1][1] == [("removed", "Here"), ("added", "There"), ("same", ".")]
