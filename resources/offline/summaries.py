"""The task `summary`.

What belongs here: a page's first informative sentences. No model is called.
"""

from __future__ import annotations

import re

from resources.offline.chat_request import ChatRequest
from resources.offline.prompt_parsing import sections

_WORDS = 90
_SENTENCES = 4
_NOISE = re.compile(r"\[[^\]]{0,30}\]|={2,}[^=\n]*={2,}|'{2,}|[\[\]{}|]")
_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(]?[A-Z0-9])")


def write_summary(request: ChatRequest) -> str:
    """Return the first two to four informative sentences of the page, or of its caption."""
    given = sections(request.last_user.text)
    sentences = _informative(given.get("page", "")) or _informative(given.get("caption", ""))
    if not sentences:
        return f"A page about {given.get('title') or 'an untitled subject'}."
    kept: list[str] = []
    for sentence in sentences[:_SENTENCES]:
        if kept and len(" ".join([*kept, sentence]).split()) > _WORDS:
            break
        kept.append(sentence)
    words = " ".join(kept).split()
    return " ".join(words) if len(words) <= _WORDS else " ".join(words[:_WORDS]) + " ..."


def _informative(text: str) -> list[str]:
    """Split into sentences and leave out fragments."""
    plain = " ".join(_NOISE.sub("", text).split())
    sentences = [sentence.strip() for sentence in _END.split(plain)]
    return [sentence for sentence in sentences if len(sentence.split()) >= 5]
