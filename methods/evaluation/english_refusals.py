"""Refusals in English answers, found by their first words.

A refusal by a provider's filter has no text; its outcome shows it.
"""

import re

REFUSAL = re.compile(
    r"^\W*(?:i['’]?m (?:very |really |so )?sorry|i am (?:very |really |so )?sorry|sorry"
    r"|i apologi[sz]e|unfortunately|as an ai(?: [\w-]+){0,4})?[,.;:\s]*(?:but )?"
    r"(?:(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|must decline|have to decline)"
    r"(?! help (?!\w*thing|regarding|concerning)\w+ing\b)"
    r"|(?:i am|i['’]?m|we are|we['’]re) (?:unable|not able) to)\b",
    re.IGNORECASE,
)
"""The first words of a text that declines; "I cannot help smiling" does not."""
BEYOND = re.compile(
    r"^[^.!?;,]{0,80}\b(?:(?:goes|is|lies|falls|would be)(?: (?:well|far|way))?"
    r" (?:(?:beyond|outside)(?: of)? what|more than(?: what)?)|exceeds what) (?:i|we)\b"
    r"(?:['’]m|['’]re| am| are)?(?: (?:can|could|may|able to|allowed to|permitted to))?"
    r" (?:do|offer|help|answer|assist|provide|say|tell|comment|share|support|handle)\b",
    re.IGNORECASE,
)
"""Other first words of a refusal: "That goes beyond what I can do for you."."""
CAVEAT = re.compile(
    r"(?:\b(?:but|however|although|nevertheless|nonetheless|even so|whereas)\b"
    r"|[,;.—–-] ?(?:though|yet|still|while|that said|(?:judging|going) by|judging from"
    r"|from (?:the|its|their))\b)"
    r"(?!,? (?:if you|please|feel free|let me know|(?:i|we) (?:understand|appreciate|know|reali[sz]e)\b"
    r"|(?:i|we)(?: can| could| would|['’]d|['’]ll| am|['’]m)"
    r" (?:be|help|try|assist|offer|provide|happy|glad)\b)"
    r"|\W*\Z)",
    re.IGNORECASE,
)
"""Words that turn a declined part into a caveat; an offer to do something else does not."""

MOST_WORDS, OPENING = 60, 500
"""Limits of a refusal: its number of words, and the first characters in which it is searched."""


def is_refusal(answer: str) -> bool:
    """Whether an answer declines in its first words; an answer that complies after a caveat does not.

    "I cannot tell the year, but the boat is red" is an answer, and so is anything over 60 words. A
    heuristic for a count next to the scores, not a judgment: English only, by the usual phrases.
    """
    words = answer.split()
    # An answer that repeats one character thousands of times would take the expression minutes.
    opening = " ".join(words)[:OPENING]
    refused = REFUSAL.match(opening) or BEYOND.match(opening)
    if refused is None or len(words) > MOST_WORDS:
        return False
    return CAVEAT.search(" ".join(words), refused.end()) is None
