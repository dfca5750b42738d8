"""Quality checks of question-answer pairs: their names, and the outcome of a pair: pass, review or
drop.

The quality policy (a setting) decides which checks drop a pair and which send it to review.
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
"""Checks by rule. Each finding has its evidence."""

NEEDS_NO_PICTURE, UNSUPPORTED = "needs_no_picture", "unsupported"
CONTRADICTIONS, SENSITIVE, UNANSWERED = "contradictions", "sensitive", "unanswered"
BY_MODEL = (NEEDS_NO_PICTURE, UNSUPPORTED, CONTRADICTIONS, SENSITIVE, UNANSWERED)
"""Checks by a model, whose call may fail."""

NOT_CHECKED = "not_checked"
"""The reason if the call of a check by a model failed."""
REASONS = (*RULES, *BY_MODEL, NOT_CHECKED)

OF_QUESTION = (LEAK, REPEATED, NEAR_DUPLICATE, NEEDS_NO_PICTURE)
OF_ANSWER = (REFUSAL, UNSUPPORTED, CONTRADICTIONS, UNANSWERED)
"""Checks of the question only, and of the answer only. All other checks read both."""

PASS, REVIEW, DROP = "pass", "review", "drop"
OUTCOMES = (PASS, REVIEW, DROP)

DROPPED = (
    *(REFUSAL, TRUNCATION, LANGUAGE, LEFTOVER, REPEATED, PERSONAL_DATA),
    *(NEEDS_NO_PICTURE, SENSITIVE),
)
"""Reasons that drop a pair by default: no model should be trained on such pairs."""
REVIEWED = (
    *(LENGTH, MATERIAL, LEAK, NEAR_DUPLICATE),
    *(UNSUPPORTED, CONTRADICTIONS, UNANSWERED),
)
"""Reasons that send a pair to human review by default, because these checks may be wrong."""

UNGROUNDED = "ungrounded"
"""Finding: names or numbers of an answer that its sources do not have. Only for unchecked pairs."""
UNCHECKED = "unchecked"
"""Pairs that the checks have not read, because people edited them or the stage was not run."""
EDITED = "edited"
"""Pairs that people edited."""
PAIRS_LEFT_OUT, DIALOGUES_LEFT_OUT = "pairs_left_out", "dialogues_left_out"
PAIRS_WITH_DIALOGUES = "pairs_with_dialogues"
LEFT_OUT_OF = {
    PAIRS_LEFT_OUT: "pairs",
    DIALOGUES_LEFT_OUT: "whole dialogues",
    PAIRS_WITH_DIALOGUES: "their other pairs",
}
"""Counts of what is left out of an instruction set, and their names on a dataset card: dropped pairs;
dialogues of which too little remains; and the other pairs of these dialogues."""
SHARED = "shared_"
"""Prefix of these counts for content that is left out because a benchmark has it, too."""


class QuestionAnswerPair(NamedTuple):
    """One turn of a dialogue. `question` has no image placeholders (`<ImageHere>`)."""

    dialogue_id: str
    question_id: str
    turn: int
    question: str
    answer: str


class WriterContext(NamedTuple):
    """Source texts of one image, which the writer model saw and readers do not see."""

    title: str
    caption: str
    page_text: str


class DialogueContent(NamedTuple):
    """The pairs of one dialogue in order, the sources of its images, and the number of its images (0
    for unknown)."""

    dialogue_id: str
    pairs: Sequence[QuestionAnswerPair]
    sources: Sequence[WriterContext]
    n_pictures: int = 0


MOST_TRIED = 50
"""The most dialogues that are tried to find one without a common image."""


def other_images(images_of: Mapping[str, Sequence[str]], seed: int) -> dict[str, list[str]]:
    """Choose the images of another dialogue for each dialogue, to test whether its images are needed.

    Images are repeated if the other dialogue has fewer.

    Args:
        images_of: The images of each dialogue, by id.
        seed: The seed.

    Returns:
        By dialogue, as many images as it has, none of its own. A dialogue is left out if it shares an
        image with all dialogues that were tried.
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
"""Columns with the grades, 0 to 10, of answers that a model wrote without the images (blind run), and
with the images of another dialogue."""


class QualityPolicy(NamedTuple):
    """The reasons that drop a pair, the reasons that flag it for people, and the highest grade (0 to
    10) of an answer that was written without the images.
    """

    drop: Collection[str]
    review: Collection[str]
    highest_blind_grade: int


class QualityOutcome(NamedTuple):
    """The outcome of a pair and all its reasons, also those that do not affect the outcome."""

    outcome: str
    reasons: tuple[str, ...]


def outcome_of(row: Mapping[str, Any], policy: QualityPolicy) -> QualityOutcome:
    """Decide what happens with a question-answer pair.

    If the call of a check failed (`not_checked`), the pair does not pass: it is reviewed, unless
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
    """Make the note of a row of `quality.checks`: turn, outcome, and findings with their evidence.

    Returns None for a pair without findings.
    """
    if not row["reasons"]:
        return None
    return {
        "turn": row["turn"],
        "outcome": row["outcome"],
        "found": [[reason, _evidence_of(row, reason)] for reason in row["reasons"]],
    }


def _evidence_of(row: Mapping[str, Any], reason: str) -> str:
    if reason == NEEDS_NO_PICTURE:
        graded = [
            f"{row[grade]} of 10 {_SHOWN[grade]}" for grade in GRADES if row[grade] is not None
        ]
        return ", ".join(graded)
    evidence = row[reason]
    return evidence if isinstance(evidence, str) else "; ".join(evidence)


def line_of(note: Mapping[str, Any]) -> str:
    """Write a note on one line, for files."""
    reasons = "; ".join(f"{reason} ({evidence})" for reason, evidence in note["found"])
    return f"turn {note['turn']}, {note['outcome']}: {reasons}"
