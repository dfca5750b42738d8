"""Unicode normalization in a time that grows with the length of a text."""

import re
import unicodedata
from functools import partial
from itertools import groupby
from typing import Literal

Form = Literal["NFC", "NFKC"]

_SHORT = 500
"""The number of characters up to which any text is normalized in about a millisecond."""
_LONG_RUN = re.compile(r"[\W\uff9e\uff9f]{31,}")
"""A run that may have more than 30 combining marks: no language needs as many (Unicode Standard Annex
15, Stream-Safe Text Format). Marks are no word characters; two letters become marks in NFKC."""


def in_form(form: Form, text: str) -> str:
    """Normalize a text, with the same result as `unicodedata.normalize`.

    That function sorts the marks of a character by insertion and lets no other thread run: 100,000 of
    them take half a minute. Here a long run of marks is sorted before.
    """
    if len(text) > _SHORT and not text.isascii():
        text = _LONG_RUN.sub(partial(_with_sorted_marks, form), text)
    return unicodedata.normalize(form, text)


def _with_sorted_marks(form: Form, run: re.Match[str]) -> str:
    # Some marks become several, and others become marks only here.
    characters = "".join(unicodedata.normalize(form, character) for character in run[0])
    groups = groupby(characters, key=lambda character: unicodedata.combining(character) > 0)
    return "".join("".join(sorted(group, key=unicodedata.combining)) for _, group in groups)
