"""Written items: what is asked of whom, which replies are items."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.mmbench.taxonomy import DESCRIPTIONS, ENCYCLOPEDIC, LEVEL_3
from methods.mmbench.writing import ItemDraft, assign_abilities, item_id, read_item
from methods.prompts.parsing import ParseError

GOOD = {
    "question": "What stands on the hill?",
    "hint": "",
    "answer": "A windmill",
    "distractors": ["A castle", "A church", "A barn"],
}
MILL = ItemDraft("What stands on the hill?", None, "A windmill", ("A castle", "A church", "A barn"))


def read(**changes: object) -> ItemDraft:
    return read_item(json.dumps({**GOOD, **changes}))


def refused(reply: str) -> str:
    with pytest.raises(ParseError) as caught:
        read_item(reply)
    assert caught.value.detail.endswith(".")
    return caught.value.reason


def test_every_leaf_of_the_taxonomy_is_described_and_the_default_is_some_of_them() -> None:
    leaves = {leaf for leaves in LEVEL_3.values() for leaf in leaves}
    assert set(DESCRIPTIONS) == leaves
    assert set(ENCYCLOPEDIC) < leaves and len(set(ENCYCLOPEDIC)) == len(ENCYCLOPEDIC) == 12


IMAGES = [f"image {number}" for number in range(40)]


def test_another_seed_asks_other_pairs_and_nothing_makes_none() -> None:
    by_seed = [tuple(assign_abilities(IMAGES, ENCYCLOPEDIC, 8, seed)) for seed in (0, 1)]
    assert len(set(by_seed)) == 2
    assert assign_abilities([], ["a"], 3, 0) == assign_abilities(["x"], [], 3, 0) == []


NAMES = st.lists(st.text(min_size=1, max_size=3), unique=True, max_size=9)


@given(NAMES, NAMES, st.integers(1, 90), st.integers(0, 5))
def test_pairs_are_balanced_never_repeated_and_more_of_them_keep_the_first(
    images, abilities, n_items, seed
):
    pairs = assign_abilities(images, abilities, n_items, seed)
    assert len(pairs) == len(set(pairs)) == min(n_items, len(images) * len(abilities))
    uses = Counter(dict.fromkeys(abilities, 0))
    uses.update(ability for _, ability in pairs)
    assert not pairs or max(uses.values()) - min(uses.values()) <= 1
    # No image is asked about again before each was asked about.
    first = [image for image, _ in pairs[: len(images)]]
    assert len(set(first)) == len(first)
    assert assign_abilities(images[::-1], abilities[::-1], n_items, seed) == pairs
    assert assign_abilities(images, abilities, n_items + 5, seed)[: len(pairs)] == pairs


def test_an_item_is_read_with_its_right_choice_apart() -> None:
    assert read() == MILL
    assert read(hint=" Mills grind\n corn. ").hint == "Mills grind corn."
    assert read_item(f"```json\n{json.dumps(GOOD)}\n```") == MILL
    without_hint = {name: value for name, value in GOOD.items() if name != "hint"}
    assert read_item(json.dumps(without_hint)) == MILL


@pytest.mark.parametrize(
    "marks",
    [("A. ", "B. ", "C. ", "D. "), ("(b) ", "(a) ", "(d) ", "(c) "), ("1) ", "2) ", "3) ", "4) ")],
)
def test_letters_before_all_choices_are_taken_off(marks: tuple[str, ...]) -> None:
    choices = map("".join, zip(marks, (MILL.answer, *MILL.distractors), strict=True))
    answer, *distractors = choices
    assert read(answer=answer, distractors=distractors) == MILL


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"question": " "}, "empty_question"),
        ({"question": None}, "wrong_fields"),
        ({"answer": 3}, "wrong_fields"),
        ({"distractors": "a castle"}, "wrong_fields"),
        ({"distractors": ["a castle", None]}, "wrong_fields"),
        ({"answer": ""}, "empty_choice"),
        ({"distractors": []}, "too_few_choices"),
        ({"distractors": ["A castle", "A church", "A barn", "A tower"]}, "too_many_choices"),
        ({"distractors": ["A castle", "the windmill."]}, "answer_among_distractors"),
        ({"distractors": ["A castle", "a  CASTLE"]}, "repeated_choice"),
        ({"distractors": ["B. A castle", "A church"]}, "lettered_choice"),
        ({"distractors": ["A castle", "None of the above"]}, "refers_to_choices"),
        ({"question": "Which is it, A or B?"}, "refers_to_choices"),
        ({"question": "What does <image-1> show?"}, "image_token"),
        ({"question": "What does the caption name?"}, "mentions_material"),
        ({"question": "Where does the windmill stand?"}, "gives_answer_away"),
        ({"hint": "Look for a WINDMILL."}, "gives_answer_away"),
        ({"question": "What is \ud800 this?"}, "not_unicode"),
    ],
)
def test_what_is_no_sound_item_is_refused_by_name(changes: dict[str, object], reason: str) -> None:
    assert refused(json.dumps({**GOOD, **changes})) == reason


@pytest.mark.parametrize(
    "changes",
    [
        # All choices stand in the question, so it names none of them as the right one.
        {
            "question": "Which is taller, the windmill or the castle?",
            "distractors": ["The castle"],
        },
        {"question": "Which windmills' neighbour is it?"},
        {"question": "What does the text on the sign say?"},
        {"question": "Which article of clothing is red?"},
        {"answer": "1. FC Example", "distractors": ["2nd place", "A draw"]},
    ],
)
def test_words_that_only_look_alike_are_no_reason(changes) -> None:
    made = read(**changes)
    assert [getattr(made, name) for name in changes] == [
        tuple(each) if isinstance(each, list) else each for each in changes.values()
    ]


def test_an_id_is_of_the_content_and_tells_no_key() -> None:
    of = ("e", "ocr", "What?", None, ["a", "b", "c"])
    first = item_id(*of)
    assert first == item_id(*of[:4], ["c", "a", "b"])
    others = {0: "f", 1: "image_topic", 2: "Which?", 3: "Look.", 4: ["a", "b"]}
    changed = {item_id(*of[:n], other, *of[n + 1 :]) for n, other in others.items()}
    assert len(changed | {first}) == 6
