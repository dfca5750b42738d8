"""Lettered choices in their orders, and the text of a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.lettered import (
    LETTERS,
    choices_in_order,
    letter_in,
    original_order,
    question_and_hint,
    shifted,
    shuffled,
    with_hint,
    with_letters,
)

SIZES = st.integers(2, 8)


def test_the_papers_example_of_four_passes() -> None:
    """MMBench, Figure 6: how many apples, the right one is the first choice."""
    choices = ("4", "3", "2", "1")
    passes = [choices_in_order(choices, shifted(4, k)) for k in range(4)]
    assert passes == [
        ("4", "3", "2", "1"),
        ("3", "2", "1", "4"),
        ("2", "1", "4", "3"),
        ("1", "4", "3", "2"),
    ]
    assert [letter_in(shifted(4, k), "A") for k in range(4)] == ["A", "D", "C", "B"]


@given(SIZES, st.text(max_size=5), st.integers(0, 7))
def test_in_a_shuffled_order_no_choice_keeps_its_letter(n: int, seed: str, place: int) -> None:
    order = shuffled(n, seed)
    assert sorted(order) == list(original_order(n)) and order == shuffled(n, seed)
    assert letter_in(order, LETTERS[place % n]) != LETTERS[place % n]


def test_seeds_give_different_orders_and_more_choices_than_letters_are_refused():
    assert len({shuffled(4, f"item-{n}") for n in range(50)}) == 9  # derangements of four
    assert shuffled(1, "x") == (0,) and shuffled(0, "x") == ()
    # More choices than letters are refused.
    assert with_letters(["x"] * 10).endswith("J. x")
    with pytest.raises(ValueError, match="there are 11 choices, and at most 10 have a letter"):
        with_letters(["x"] * 11)


TWO = "Image1: <ImageHere>, Image2: <ImageHere>\n"


@pytest.mark.parametrize(
    ("question", "n_images", "hint", "text"),
    [
        ("Why?", 0, "", "Why?"),
        ("Why?", 1, "", "<ImageHere>\nWhy?"),
        ("Why?", 1, "Look.", "<ImageHere>\nHint: Look.\nQuestion: Why?"),
        ("Why?", 2, "", f"{TWO}Why?"),
        # A question says itself where its images are.
        ("Is <ImageHere> like <ImageHere>?", 2, "", "Is <ImageHere> like <ImageHere>?"),
        # It only looks like a hint.
        *((text, 0, "", text) for text in ("Hint: \nQuestion: Why?", "Hint: none")),
    ],
)
def test_the_text_of_a_question(question: str, n_images: int, hint: str, text: str) -> None:
    assert with_hint(question, hint, "Hint", n_images) == text
    assert question_and_hint(text, "Hint", n_images) == (question, hint)
