"""From what checks found to pass, review or drop; the pictures of another set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.quality.outcome import (
    DROPPED,
    REASONS,
    REVIEWED,
    QualityOutcome,
    QualityPolicy,
    counts,
    line_of,
    note_of,
    other_images,
    outcome_of,
)

POLICY = QualityPolicy(DROPPED, REVIEWED, 6)


CHECKED = {"unsupported": [], "contradictions": [], "sensitive": [], "blind_grade": 6}
NOT_CHECKED = {"not_checked": "grounding: timeout"}
NONE = QualityPolicy((), (), 6)


@pytest.mark.parametrize(
    ("row", "policy", "outcome"),
    [
        ({}, POLICY, ("pass", ())),
        (CHECKED, POLICY, ("pass", ())),
        # What drops outweighs what is reviewed.
        ({"leak": "the name X", "refusal": "Sorry"}, POLICY, ("drop", ("refusal", "leak"))),
        # A check that could not be made never passes.
        (NOT_CHECKED, POLICY, ("review", ("not_checked",))),
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
    assert outcome_of(row, policy) == QualityOutcome(*outcome)


def test_every_check_but_the_one_that_was_not_made_has_an_outcome_by_default() -> None:
    assert {*DROPPED, *REVIEWED, "not_checked"} == set(REASONS)
    assert not set(DROPPED) & set(REVIEWED)


def test_counts_are_of_outcomes_and_of_what_was_found() -> None:
    rows = [
        {"outcome": "pass", "reasons": []},
        {"outcome": "drop", "reasons": ["refusal", "leak"]},
        {"outcome": "review", "reasons": ["leak"]},
    ]
    assert counts(rows) == {"pass": 1, "review": 1, "drop": 1, "refusal": 1, "leak": 2}


def test_a_reviewer_is_told_what_was_found_and_where() -> None:
    row = {
        **dict.fromkeys(REASONS),
        **{"turn": 2, "outcome": "drop", "reasons": ["leak", "needs_no_picture", "unsupported"]},
        **{"leak": "the name X", "blind_grade": 9, "other_grade": 2},
        "unsupported": ["It is red.", "It is old."],
    }
    note = note_of(row)
    assert note is not None
    assert line_of(note) == (
        "turn 2, drop: leak (the name X); needs_no_picture (9 of 10 without the pictures, 2 of 10 with "
        "other pictures); unsupported (It is red.; It is old.)"
    )
    assert note_of({**row, "reasons": []}) is None


DIALOGUES = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.lists(st.sampled_from("123456789"), min_size=2, max_size=4, unique=True),
    max_size=8,
)


@given(DIALOGUES, st.integers(0, 3))
def test_they_are_as_many_and_none_is_its_own(images_of: dict[str, list[str]], seed: int) -> None:
    found = other_images(images_of, seed)
    for name, own in images_of.items():
        if name in found:
            assert len(found[name]) == len(own) and not set(found[name]) & set(own)
        else:
            assert all(set(own) & set(others) for others in images_of.values())


def test_another_text_changes_nothing_one_more_dialogue_few_and_no_other_set_is_none():
    images_of = {f"d{n}": [f"p{n}", f"q{n}"] for n in range(40)}
    before = other_images(images_of, 0)
    renamed = {name.replace("d", "e"): images for name, images in images_of.items()}
    after = other_images(renamed, 0)
    assert [after[name.replace("d", "e")] for name in images_of] == list(map(before.get, images_of))
    more = other_images({**images_of, "new": ["x", "y"]}, 0)
    assert sum(more[name] != before[name] for name in images_of) == 1
    # There is no other set.
    assert other_images({"a": ["1", "2"]}, 0) == {}
    assert other_images({"a": ["1", "2"], "b": ["2", "3"]}, 0) == {}
