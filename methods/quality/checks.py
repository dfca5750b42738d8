"""The checks there are, and which of them lead to which outcome by default.

What belongs here: names. A check is called as its column of `quality.checks` and as the reason of an
outcome.
"""

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

PASS, REVIEW, DROP = "pass", "review", "drop"
OUTCOMES = (PASS, REVIEW, DROP)

DROPPED = (
    *(REFUSAL, TRUNCATION, LANGUAGE, LEFTOVER, REPEATED, PERSONAL_DATA),
    *(NEEDS_NO_PICTURE, SENSITIVE),
)
"""What drops a pair by default: what no reader would want to learn from."""
REVIEWED = (
    *(LENGTH, MATERIAL, LEAK, NEAR_DUPLICATE),
    *(UNSUPPORTED, CONTRADICTIONS, UNANSWERED),
)
"""What people should look at by default: a rule, or one model, may be wrong in it."""

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
