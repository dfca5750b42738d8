"""The task `extract`.

What belongs here: reading which choice an answer names. The reply is its letter, or Z where the answer
names none or several. No model is called.
"""

from __future__ import annotations

import re

from resources.offline.chat_request import ChatRequest
from resources.offline.choices import options
from resources.offline.prompt_parsing import sections

NONE = "Z"


def extract(request: ChatRequest) -> str:
    """Return the letter of the one choice whose text stands in the answer, else Z."""
    given = sections(request.last_user.text)
    _, offered = options(given.get("choices", ""))
    answer = given.get("answer", "")
    named = [
        letter
        for letter, text in offered.items()
        if re.search(rf"\b{re.escape(text.strip(' .'))}\b", answer, re.IGNORECASE)
    ]
    return named[0] if len(named) == 1 else NONE
