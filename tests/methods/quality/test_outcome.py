"""From what checks found to pass, review or drop."""

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


def test_nothing_found_passes() -> None:
    assert outcome_of({}, POLICY) == QualityOutcome("pass", ())
    checked = {"unsupported": [], "contradictions": [], "sensitive": [], "blind_grade": 6}
    assert outcome_of(checked, POLICY) == QualityOutcome("pass", ())


def test_what_drops_outweighs_what_is_reviewed() -> None:
    row = {"leak": "the name X", "refusal": "Sorry"}
    assert outcome_of(row, POLICY) == QualityOutcome("drop", ("refusal", "leak"))


def test_a_check_that_could_not_be_made_never_passes() -> None:
    row = {"not_checked": "grounding: timeout"}
    assert outcome_of(row, POLICY) == QualityOutcome("review", ("not_checked",))
    assert outcome_of(row, QualityPolicy((), (), 6)).outcome == "review"


def test_a_grade_above_the_limit_needs_no_picture_whichever_it_is() -> None:
    assert outcome_of({"blind_grade": 7, "other_grade": 1}, POLICY).outcome == "drop"
    assert outcome_of({"blind_grade": 1, "other_grade": 7}, POLICY).outcome == "drop"
    assert outcome_of({"blind_grade": 7}, QualityPolicy(DROPPED, REVIEWED, 7)).outcome == "pass"


def test_a_check_may_decide_nothing_and_is_named_all_the_same() -> None:
    assert outcome_of({"leak": "the name X"}, QualityPolicy((), (), 6)) == QualityOutcome(
        "pass", ("leak",)
    )


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
