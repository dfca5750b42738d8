"""Refusal detection in many languages: answers that refuse, or that report a missing image."""

import re

from methods.evaluation.english_refusals import BEYOND, MOST_WORDS, OPENING, REFUSAL
from methods.model_text import without_reasoning
from methods.quality.about_asking import speaks_of_asking
from methods.quality.quotations import is_quotation, without_writing
from methods.quality.refusal_caveats import english_goes_on, other_goes_on
from methods.quality.refusal_phrases import (
    DECLINES,
    NO_PICTURE,
    OTHERS_DECLINE,
    OTHERS_NO_PICTURE,
    SELF,
)
from methods.words import n_words

_LOOKED = re.compile(
    r"^\W*(?:(?:sorry|i['’]m sorry|unfortunately|i['’]m afraid)[,;]? (?:but )?)?"
    r"(?:i|we) (?:can['’]?t|can ?not"
    r"|(?:am|are) (?:unable|not able) to) (?:\w+ly |quite |even )?"
    r"(?:see|find|spot|make out|detect|discern|notice|count|read)\b"
    r"(?! (?:(?:the|any|an?|your|this|that|these|those) )?(?:\w+ )?"
    r"(?:images?|pictures?|photos?|photographs?|attachments?|files?|it|them|anything|that|this|visuals?)\b)",
    re.IGNORECASE,
)
"""Answers that report what the image does not show, such as "I cannot see any people". They are no
refusals."""
_TO_WHO_ASKED = re.compile(
    r"\b(?:requests?|images?|pictures?|photos?|photographs?|assist\w*|compl[yi]\w*|questions?|guidelines)\b",
    re.IGNORECASE,
)
"""Words which show that a text in quotation marks is a refusal, and not a quotation from the image."""
_NOT = re.compile(r"\b(?:not|cannot|unable|lack|without|no)\b|n't\b", re.IGNORECASE)


def refusal_in(answer: str) -> str | None:
    """Return the beginning of an answer that refuses or reports a missing image; None for other
    answers.

    Reasoning in tags is ignored, and so are quotations, unless a quotation mentions images or requests
    as a model does. An answer of more than `MOST_WORDS` words, and an answer that continues after a
    caveat, is not a refusal.
    """
    text = " ".join(without_reasoning(answer).answer.replace("’", "'").split())
    if n_words(text) > MOST_WORDS:
        return None
    if is_quotation(text) and not (SELF.search(text) or _TO_WHO_ASKED.search(text)):
        return None
    opening = without_writing(text[: 2 * OPENING])[:OPENING]
    no_picture = NO_PICTURE.search(opening) or OTHERS_NO_PICTURE.search(opening)
    return text[:80] if no_picture or _declines(opening) else None


def _declines(text: str) -> bool:
    if (end := _english(text)) is not None:
        return not english_goes_on(text[end:])
    other = OTHERS_DECLINE.search(text)
    return other is not None and not other_goes_on(text[other.end() :])


def _english(text: str) -> int | None:
    """The position after the words of an English refusal, or None."""
    if (match := REFUSAL.match(text)) and not _LOOKED.match(text):
        return match.end()
    if match := BEYOND.match(text) or DECLINES.search(text):
        return match.end()
    if (match := SELF.search(text)) and _NOT.search(text, match.end()):
        return match.end()
    return 0 if speaks_of_asking(text.casefold()) else None
