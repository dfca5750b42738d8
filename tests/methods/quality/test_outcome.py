"""From what checks found to pass, review or drop."""

import pytest

from methods.quality.outcome import (
    DROPPED,
    REASONS,
    REVIEWED,
    QualityOutcome,
    QualityPolicy,
    counts,
    line_of,
    note_of,
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
