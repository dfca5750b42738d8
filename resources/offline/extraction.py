"""The task `extract`.

What belongs here: reading which choice an answer names, by letter or by text. The reply is its letter,
or Z where the answer names none or several. No model is called.
"""

from __future__ import annotations

import re

from resources.offline.chat_request import ChatRequest
from resources.offline.choices import options
from resources.offline.prompt_parsing import sections

NONE = "Z"
_LETTER = re.compile(r"\W*([A-H])\W*|.*\b(?:answer|it) is \W?([A-H])\b.*", re.DOTALL)
"""An answer that is a letter, or that says which letter it is."""


def extract(request: ChatRequest) -> str:
    """Return the letter that the answer names, else that of the one choice that it has, else Z."""
    given = sections(request.last_user.text)
    _, offered = options(given.get("choices", ""))
    answer = given.get("answer", "")
    said = _LETTER.fullmatch(answer)
    letter = said and (said[1] or said[2])
    if letter in offered:
        return letter
    named = [
        letter
        for letter, text in offered.items()
        if re.search(rf"\b{re.escape(text.strip(' .'))}\b", answer, re.IGNORECASE)
    ]
    return named[0] if len(named) == 1 else NONE
