"""Pairs, the checks there are, and the outcome of a pair's checks: pass, review or drop.

A setting maps checks to outcomes.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import cycle, islice
from typing import Any, NamedTuple

from methods.ids import content_id

REFUSAL, TRUNCATION, LENGTH, LANGUAGE = "refusal", "truncation", "length", "language"
LEFTOVER, MATERIAL, LEAK = "leftover", "material", "leak"
REPEATED, NEAR_DUPLICATE, PERSONAL_DATA = "repeated", "near_duplicate", "personal_data"
RULES = (
    *(REFUSAL, TRUNCATION, LENGTH, LANGUAGE, LEFTOVER),
    *(MATERIAL, LEAK, REPEATED, NEAR_DUPLICATE, PERSONAL_DATA),
)
"""Checks by rule; each has its evidence, or nothing."""

NEEDS_NO_PICTURE, UNSUPPORTED = "needs_no_picture", "unsupported"
CONTRADICTIONS, SENSITIVE, UNANSWERED = "contradictions", "sensitive", "unanswered"
BY_MODEL = (NEEDS_NO_PICTURE, UNSUPPORTED, CONTRADICTIONS, SENSITIVE, UNANSWERED)
"""Checks by a model; where one could not be made, nothing is known."""

NOT_CHECKED = "not_checked"
"""The reason where a check by a model was wanted and could not be made."""
REASONS = (*RULES, *BY_MODEL, NOT_CHECKED)

OF_QUESTION = (LEAK, REPEATED, NEAR_DUPLICATE, NEEDS_NO_PICTURE)
OF_ANSWER = (REFUSAL, UNSUPPORTED, CONTRADICTIONS, UNANSWERED)
"""Checks of one side of a pair alone; the others look at both."""

PASS, REVIEW, DROP = "pass", "review", "drop"
OUTCOMES = (PASS, REVIEW, DROP)

DROPPED = (
    *(REFUSAL, TRUNCATION, LANGUAGE, LEFTOVER, REPEATED, PERSONAL_DATA),
    *(NEEDS_NO_PICTURE, SENSITIVE),
)
"""What drops a pair by default: what no reader would want to learn from."""
REVIEWED = (
    LENGTH,
    MATERIAL,
    LEAK,
    NEAR_DUPLICATE,
    UNSUPPORTED,
    CONTRADICTIONS,
    UNANSWERED,
)
"""What people should look at by default: a rule, or one model, may be wrong in it."""

UNGROUNDED = "ungrounded"
"""Names and numbers of an answer that nothing it rests on has: looked for in unchecked pairs alone."""
UNCHECKED = "unchecked"
"""Pairs that the checks have not read: people have edited them, or the stage was not run."""
PAIRS_LEFT_OUT, DIALOGUES_LEFT_OUT = "pairs_left_out", "dialogues_left_out"
PAIRS_WITH_DIALOGUES = "pairs_with_dialogues"
LEFT_OUT_OF = {
    PAIRS_LEFT_OUT: "pairs",
    DIALOGUES_LEFT_OUT: "whole dialogues",
    PAIRS_WITH_DIALOGUES: "their other pairs",
}
"""What is left out of an instruction set, and how a card calls it: pairs that are dropped, dialogues of
which too little is left, and pairs that are not dropped themselves and go with such a dialogue."""
SHARED = "shared_"
"""What the names of these counts begin with where a benchmark has, too, what is left out."""


class QuestionAnswerPair(NamedTuple):
    """One turn of a dialogue: `question` is without the placeholders of the images that enter."""

    dialogue_id: str
    question_id: str
    turn: int
    question: str
    answer: str


class WriterContext(NamedTuple):
    """Context of one image that the writer got and readers do not see."""

    title: str
    caption: str
    page_text: str


class DialogueContent(NamedTuple):
    """The pairs of one dialogue in their order, the sources of its pictures, and how many pictures it
    has, 0 where that is not known."""

    dialogue_id: str
    pairs: Sequence[QuestionAnswerPair]
    sources: Sequence[WriterContext]
    n_pictures: int = 0


MOST_TRIED = 50
"""Dialogues that are looked at for one without a picture in common."""


def other_images(images_of: Mapping[str, Sequence[str]], seed: int) -> dict[str, list[str]]:
    """Choose images of another dialogue for each dialogue.

    Images are repeated if the other dialogue has fewer.

    Args:
        images_of: The images of each dialogue, by id.
        seed: The seed.

    Returns:
        As many images as each dialogue has, none of them its own. A dialogue that shares an image with
        all that were tried is left out.
    """
    ordered = sorted(
        images_of, key=lambda name: (content_id("other images", seed, list(images_of[name])), name)
    )
    chosen = {}
    for place, name in enumerate(ordered):
        own = images_of[name]
        for step in range(1, min(len(ordered), MOST_TRIED + 1)):
            others = images_of[ordered[(place + step) % len(ordered)]]
            if not set(own) & set(others):
                chosen[name] = list(islice(cycle(others), len(own)))
                break
    return chosen


GRADES = ("blind_grade", "other_grade")
"""Columns with the grades, 0 to 10, of answers without the pictures and with others."""


class QualityPolicy(NamedTuple):
    """The reasons that drop a pair, the reasons that flag it for people, and the highest grade (0 to
    10) of an answer that was written without the images.
    """

    drop: Collection[str]
    review: Collection[str]
    highest_blind_grade: int


class QualityOutcome(NamedTuple):
    """The outcome of a pair and all reasons, also those that change nothing."""

    outcome: str
    reasons: tuple[str, ...]


def outcome_of(row: Mapping[str, Any], policy: QualityPolicy) -> QualityOutcome:
    """Decide what happens with a question-answer pair.

    A check that was wanted and not made (`not_checked`) is never passed: the pair is reviewed unless
    another reason drops it.

    Args:
        row: The row of `quality.checks`; some checks may be missing.
        policy: Which reasons drop a pair, and which send it to review.

    Returns:
        The outcome with its reasons.
    """
    reasons = tuple(reason for reason in REASONS if _is_found(row, reason, policy))
    if any(reason in policy.drop for reason in reasons):
        return QualityOutcome(DROP, reasons)
    if any(reason in policy.review or reason == NOT_CHECKED for reason in reasons):
        return QualityOutcome(REVIEW, reasons)
    return QualityOutcome(PASS, reasons)


def _is_found(row: Mapping[str, Any], reason: str, policy: QualityPolicy) -> bool:
    if reason == NEEDS_NO_PICTURE:
        grades = [row[grade] for grade in GRADES if row.get(grade) is not None]
        return any(grade > policy.highest_blind_grade for grade in grades)
    return bool(row.get(reason))


def counts(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Count pairs by outcome and by reason; reasons that do not occur are left out."""
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for row in rows:
        outcomes[row["outcome"]] += 1
        reasons.update(row["reasons"])
    return {
        **{outcome: outcomes[outcome] for outcome in OUTCOMES},
        **{reason: reasons[reason] for reason in REASONS if reasons[reason]},
    }


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
    """Return the evidence of a check as one text.

    Args:
        row: The row of the pair.
        reason: The reason.

    Returns:
        The text.
    """
    if reason == NEEDS_NO_PICTURE:
        graded = [
            f"{row[grade]} of 10 {_SHOWN[grade]}" for grade in GRADES if row[grade] is not None
        ]
        return ", ".join(graded)
    evidence = row[reason]
    return evidence if isinstance(evidence, str) else "; ".join(evidence)


def line_of(note: Mapping[str, Any]) -> str:
    """A note in one line, for files."""
    reasons = "; ".join(f"{reason} ({evidence})" for reason, evidence in note["found"])
    return f"turn {note['turn']}, {note['outcome']}: {reasons}"
