"""The outcome of a pair's checks: pass, review or drop.

What belongs here: from evidence to outcome, and counts of outcomes. Which checks lead to which outcome
is a setting.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from methods.quality.checks import (
    DROP,
    NEEDS_NO_PICTURE,
    NOT_CHECKED,
    OUTCOMES,
    PASS,
    REASONS,
    REVIEW,
)

GRADES = ("blind_grade", "other_grade")
"""Columns with the grades, 0 to 10, of answers without the pictures and with others."""


class Policy(NamedTuple):
    """The reasons that drop a pair and those that people should look at; and the highest grade, 0 to
    10, of an answer that was given without the pictures."""

    drop: Collection[str]
    review: Collection[str]
    highest_blind_grade: int


class Outcome(NamedTuple):
    """The outcome, and every reason that was found, those that decide nothing among them."""

    outcome: str
    reasons: tuple[str, ...]


def outcome_of(row: Mapping[str, Any], policy: Policy) -> Outcome:
    """The outcome of a row of `quality.checks`, whose checks may be missing.

    A check that was wanted and not made (`not_checked`) is never passed: such a pair is reviewed unless
    another reason drops it.
    """
    found = tuple(reason for reason in REASONS if _is_found(row, reason, policy))
    if any(reason in policy.drop for reason in found):
        return Outcome(DROP, found)
    if any(reason in policy.review or reason == NOT_CHECKED for reason in found):
        return Outcome(REVIEW, found)
    return Outcome(PASS, found)


def _is_found(row: Mapping[str, Any], reason: str, policy: Policy) -> bool:
    if reason == NEEDS_NO_PICTURE:
        grades = [row[each] for each in GRADES if row.get(each) is not None]
        return any(grade > policy.highest_blind_grade for grade in grades)
    return bool(row.get(reason))


def counts(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many pairs have which outcome, and which reason; of the reasons those that occur."""
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for row in rows:
        outcomes[row["outcome"]] += 1
        reasons.update(row["reasons"])
    return {
        **{each: outcomes[each] for each in OUTCOMES},
        **{each: reasons[each] for each in REASONS if reasons[each]},
    }
