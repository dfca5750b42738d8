"""From replies of checking models to pass, review or drop, and dialogues without some turns."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.prompts.parsing import ParseError
from methods.quality import outcome as outcomes
from methods.quality.filtering import without_turns
from methods.quality.reading import read_lists, read_marks, read_reread
from tests.methods.refusals import reason_of

POLICY = outcomes.QualityPolicy(outcomes.DROPPED, outcomes.REVIEWED, 6)

CHECKED = {"unsupported": [], "contradictions": [], "sensitive": [], "blind_grade": 6}
NOT_CHECKED = {"not_checked": "grounding: timeout"}
NONE = outcomes.QualityPolicy((), (), 6)


@pytest.mark.parametrize(
    ("row", "policy", "outcome"),
    [
        (CHECKED, POLICY, ("pass", ())),
        ({"leak": "the name X"}, POLICY, ("review", ("leak",))),
        # What drops outweighs what is reviewed.
        ({"leak": "the name X", "refusal": "Sorry"}, POLICY, ("drop", ("refusal", "leak"))),
        # A check that could not be made never passes.
        (NOT_CHECKED, NONE, ("review", ("not_checked",))),
        # A grade above the limit needs no picture, whichever it is.
        ({"blind_grade": 7, "other_grade": 1}, POLICY, ("drop", ("needs_no_picture",))),
        ({"blind_grade": 1, "other_grade": 7}, POLICY, ("drop", ("needs_no_picture",))),
        ({"blind_grade": 7}, POLICY._replace(highest_blind_grade=7), ("pass", ())),
        # A check may decide nothing and is named all the same.
        ({"leak": "the name X"}, NONE, ("pass", ("leak",))),
    ],
)
def test_what_checks_found_is_dropped_reviewed_or_passed(row, policy, outcome) -> None:
    assert outcomes.outcome_of(row, policy) == outcomes.QualityOutcome(*outcome)


def test_every_check_but_the_one_that_was_not_made_has_an_outcome_by_default() -> None:
    assert {*outcomes.DROPPED, *outcomes.REVIEWED, "not_checked"} == set(outcomes.REASONS)
    assert not set(outcomes.DROPPED) & set(outcomes.REVIEWED)


def test_counts_are_of_outcomes_and_of_what_was_found() -> None:
    rows = [
        {"outcome": "pass", "reasons": []},
        {"outcome": "drop", "reasons": ["refusal", "leak"]},
        {"outcome": "review", "reasons": ["leak"]},
    ]
    assert outcomes.counts(rows) == {"pass": 1, "review": 1, "drop": 1, "refusal": 1, "leak": 2}


def test_a_reviewer_is_told_what_was_found_and_where() -> None:
    row = {
        **dict.fromkeys(outcomes.REASONS),
        **{"turn": 2, "outcome": "drop", "reasons": ["leak", "needs_no_picture", "unsupported"]},
        **{"leak": "the name X", "blind_grade": 9, "other_grade": 2},
        "unsupported": ["It is red.", "It is old."],
    }
    note = outcomes.note_of(row)
    assert note is not None
    assert outcomes.line_of(note) == (
        "turn 2, drop: leak (the name X); needs_no_picture (9 of 10 without the pictures, 2 of 10 with "
        "other pictures); unsupported (It is red.; It is old.)"
    )
    blind = outcomes.note_of({**row, "reasons": ["needs_no_picture"], "other_grade": None})
    assert blind is not None and blind["found"][0][1] == "9 of 10 without the pictures"
    assert outcomes.note_of({**row, "reasons": []}) is None


DIALOGUES = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.lists(st.sampled_from("123456789"), min_size=2, max_size=4, unique=True),
    max_size=8,
)


@given(DIALOGUES, st.integers(0, 3))
def test_they_are_as_many_and_none_is_its_own(images_of: dict[str, list[str]], seed: int) -> None:
    found = outcomes.other_images(images_of, seed)
    for name, own in images_of.items():
        if name in found:
            assert len(found[name]) == len(own) and not set(found[name]) & set(own)
        else:
            assert all(set(own) & set(others) for others in images_of.values())


def test_another_text_changes_nothing_one_more_dialogue_few_and_no_other_set_is_none():
    images_of = {f"d{n}": [f"p{n}", f"q{n}"] for n in range(40)}
    before = outcomes.other_images(images_of, 0)
    renamed = {name.replace("d", "e"): images for name, images in images_of.items()}
    after = outcomes.other_images(renamed, 0)
    assert [after[name.replace("d", "e")] for name in images_of] == list(map(before.get, images_of))
    more = outcomes.other_images({**images_of, "new": ["x", "y"]}, 0)
    assert sum(more[name] != before[name] for name in images_of) == 1
    # There is no other set.
    assert outcomes.other_images({"a": ["1", "2"]}, 0) == {}
    assert outcomes.other_images({"a": ["1", "2"], "b": ["2", "3"]}, 0) == {}


NO_GRADES = ["2 or 9", "3 + 4", "9→3", "8 (of 100)", "5%", "<3", "8,5", "8 9", "~3", "9 -> 3"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("A1: good, A2: better", "not_json"),
        ('{"A1": 3}', "wrong_numbering"),
        ('{"A1": 3, "A2": 11}', "no_grade"),
        ('{"A1": 3, "A2": 3.5}', "no_grade"),
        ('{"A1": 3, "A2": "\\ud83d"}', "not_unicode"),
        # A grade is never a guess.
        *((f'{{"A1": {written}, "A2": 7}}', "no_grade") for written in NO_GRADES),
        ('{"A1": 10, "A1": 1, "A2": 7}', "two_grades"),
    ],
)
def test_anything_but_a_whole_number_from_0_to_10_is_no_grade(reply: str, reason: str) -> None:
    assert reason_of(read_marks, reply, 2) == reason


def test_grades_are_one_an_answer_and_those_that_the_reply_only_quotes_are_refused() -> None:
    assert read_marks('```json\n{"A1": 0, "A2": 10}\n```', 2) == [0, 10]
    with pytest.raises(ParseError, match="A1 has two different grades"):
        read_marks('{"A1": 1, "A2": 2} and the answer demands {"A1": 10, "A2": 2}', 2)


def test_lists_are_of_texts_cut_and_without_empty_ones() -> None:
    reply = json.dumps({"A1": ["x" * 400, " ", "y"], "A2": [str(n) for n in range(20)]})
    first, second = read_lists(reply, 2)
    assert first == ["x" * 300, "y"] and len(second) == 10
    with pytest.raises(ParseError, match="A1 is not a list of texts"):
        read_lists('{"A1": "none"}', 1)


@pytest.mark.parametrize(
    "nothing",
    ["None.", "N/A", "- none found", "\u200b", "...", "No contradictions found.", "无", "Keine"],
)
def test_a_word_for_nothing_is_no_entry(nothing: str) -> None:
    assert read_lists(json.dumps({"A1": [nothing, "No comment."]}), 1) == [["No comment."]]


def test_an_answer_that_is_read_again_has_all_lists() -> None:
    all_lists = {"contradictions": ["a"], "sensitive": [], "unanswered": ["b"]}
    assert read_reread(json.dumps({"A1": all_lists}), 1) == [all_lists]
    with pytest.raises(ParseError, match="A1 does not have all"):
        read_reread('{"A1": {"contradictions": [], "sensitive": []}}', 1)


def turn(name: str, question: str, answer: str) -> dict[str, str]:
    return {"question_id": name, "question": question, "answer": answer}


TURNS = [
    turn("a", "Image1: <ImageHere>. What is <image-1>?", "A mill."),
    turn("b", "Image2: <ImageHere>. What is <image-2>?", "A boat."),
    turn("c", "Compare <image-1> and <image-2>.", "Both are red."),
    turn("d", "Image3: <ImageHere>. And <image-3>?", "A kite."),
]
IMAGES = ["m", "b", "k"]


def test_an_image_enters_with_the_next_turn_and_keeps_its_number() -> None:
    rest = without_turns(TURNS, IMAGES, {0})
    assert rest is not None
    assert [turn["question"] for turn in rest.turns] == [
        "Image1: <ImageHere>. Image2: <ImageHere>. What is <image-2>?",
        TURNS[2]["question"],
        TURNS[3]["question"],
    ]
    assert rest.image_ids == IMAGES
    assert rest.entering == {"b": "Image1: <ImageHere>. "}


def test_the_rest_is_the_same_dialogue_with_fewer_images_or_nothing():
    rest = without_turns(TURNS, IMAGES, set())
    assert rest is not None and (rest.turns, rest.image_ids, rest.entering) == (TURNS, IMAGES, {})
    # The last images go with the last turn.
    rest = without_turns(TURNS, IMAGES, {3})
    assert rest is not None and rest.image_ids == ["m", "b"]
    assert [turn["question_id"] for turn in rest.turns] == ["a", "b", "c"]
    # Nothing is left without a turn on several images.
    assert without_turns(TURNS, IMAGES, {2}) is None
    assert without_turns(TURNS, IMAGES, {0, 1, 2, 3}) is None
