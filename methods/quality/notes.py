"""What reviewers are told of the checks of a pair.

What belongs here: the note beside a turn, in plain values, and as a line where there is no page. How it
looks is `review/`.
"""

from collections.abc import Mapping
from typing import Any

from methods.quality.checks import NEEDS_NO_PICTURE
from methods.quality.outcome import GRADES

_SHOWN = {"blind_grade": "without the pictures", "other_grade": "with other pictures"}


def note_of(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The turn, the outcome, and each check that found something with its evidence; else None.

    `row` is one of `quality.checks`.
    """
    if not row["reasons"]:
        return None
    return {
        "turn": row["turn"],
        "outcome": row["outcome"],
        "found": [[reason, evidence_of(row, reason)] for reason in row["reasons"]],
    }


def evidence_of(row: Mapping[str, Any], reason: str) -> str:
    """What a check found, as one text."""
    if reason == NEEDS_NO_PICTURE:
        graded = [f"{row[each]} of 10 {_SHOWN[each]}" for each in GRADES if row[each] is not None]
        return ", ".join(graded)
    found = row[reason]
    return found if isinstance(found, str) else "; ".join(found)


def line_of(note: Mapping[str, Any]) -> str:
    """A note in one line, for files."""
    found = "; ".join(f"{reason} ({evidence})" for reason, evidence in note["found"])
    return f"turn {note['turn']}, {note['outcome']}: {found}"
