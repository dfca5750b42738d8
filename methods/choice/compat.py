"""Reading a letter as VLMEvalKit does, so that published numbers can be reproduced.

What belongs here: that heuristic, written from a description of what it does. It stands beside
`strict.py`, never in its place:

1. An answer that has one of four sentences of refusal names no choice (Z).
2. `.()[],:;!*#{}` become spaces. If exactly one letter of a choice is a word of the answer, and its
   first occurrence is among the last four words, it is read. "A" the article is such a word.
3. If none is and Z is a word, the answer names no choice.
4. Else the letter A to D that follows "answer is" is read, in any case, also as the beginning of a
   word: "The answer is blue" is B. Choices beyond D are not known.
5. Else, if the answer has at most twice the characters of all choices together, the one choice whose
   text stands in it, in any case, also inside a word.

Where nothing is read, VLMEvalKit asks a model. In a circular group it fails the group by a letter
that was read wrongly before it asks about the others; a group is right only if all passes are, so the
result is that of reading every pass.
"""

import re
from collections.abc import Sequence

from methods.choice.lettered import LETTERS, NO_CHOICE

_NO_API = "Failed to obtain answer via API"
_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)
_TO_SPACES = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_VERBOSE = re.compile(r"answer\s+is\s+\**([A-D])", re.IGNORECASE)
LAST_WORDS = 4


def compat(answer: str, choices: Sequence[str]) -> str | None:
    """The letter that VLMEvalKit's rules read, `Z` for none of the choices, None where they fail."""
    return _by_letter(answer, LETTERS[: len(choices)]) or _by_text(answer, choices)


def _by_letter(answer: str, letters: str) -> str | None:
    if _NO_API in answer:
        return None
    if any(refusal in answer for refusal in _REFUSALS):
        return NO_CHOICE
    words = answer.translate(_TO_SPACES).split()
    found = [letter for letter in letters if letter in words]
    if len(found) == 1 and words.index(found[0]) >= len(words) - LAST_WORDS:
        return found[0]
    if not found and NO_CHOICE in words:
        return NO_CHOICE
    said = _VERBOSE.search(answer)
    return said[1].upper() if said and said[1].upper() in letters else None


def _by_text(answer: str, choices: Sequence[str]) -> str | None:
    if len(answer) > 2 * sum(map(len, choices)):
        return None
    found = [
        letter
        for letter, choice in zip(LETTERS, choices, strict=False)
        if choice.lower() in answer.lower()
    ]
    return found[0] if len(found) == 1 else None
