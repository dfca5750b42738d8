"""The task `rewrite`.

What belongs here: rewording a prompt by fixed frames and synonyms; its image tokens stay. No model is
called.
"""

from __future__ import annotations

import re

from resources.offline.chat_request import ChatRequest
from resources.offline.prompt_parsing import exactly, sections
from resources.offline.seeded_choice import SeededChoice

_TOKEN = re.compile(r"(<[^<>\s]+>)")
_QUESTION_WORDS = ("what", "which", "how", "where", "who", "why", "when", "is", "are", "does", "do")
_REQUESTS = (
    "Please {}",
    "Could you {}",
    "I would like you to {}",
    "Take a moment to {}",
    "Your task is to {}",
    "Would you kindly {}",
    "Help me out: {}",
    "Now {}",
)
_QUESTIONS = (
    "Could you tell me: {}",
    "I would like to know: {}",
    "Here is what I am asking: {}",
    "In your view, {}",
    "Let me ask you this: {}",
    "Please answer the following: {}",
    "Having looked carefully, {}",
    "Going by what you see, {}",
)
_CHINESE = (
    "麻烦你：{}",
    "请问，{}",
    "能否告诉我：{}",
    "我想知道，{}",
    "仔细看图后回答：{}",
    "根据所见，{}",
    "请认真作答：{}",
    "在你看来，{}",
)
_HAN = re.compile("[\u4e00-\u9fff]")
_SYNONYMS = (
    ("describe", "give a description of"),
    ("compare", "draw a comparison of"),
    ("explain", "make clear"),
    ("differences", "contrasts"),
    ("images", "pictures"),
    ("image", "picture"),
    ("pictures", "images"),
    ("picture", "image"),
    ("detailed", "thorough"),
    ("show", "present"),
)


def write_rewrites(request: ChatRequest) -> str:
    """Return as many rewrites of the prompt as the system message asks for, one a line."""
    prompt = " ".join(sections(request.last_user.text).get("prompt", "").split())
    number = exactly(request.system, "rewrites?", default=1)
    seeded = SeededChoice("rewrites", prompt)
    asks = prompt.lower().startswith(_QUESTION_WORDS)
    frames = seeded.order("frames", _QUESTIONS if asks else _REQUESTS)
    if _HAN.search(prompt):
        return "\n".join(
            frame.format(prompt) for frame in seeded.order("frames", _CHINESE)[:number]
        )
    lines: list[str] = []
    for index in range(number):
        turn, place = divmod(index, len(frames))
        body = _reworded(prompt) if (place + turn) % 2 else prompt
        closing = " " + "Please be thorough. " * turn if turn else ""
        lines.append((_framed(frames[place], body) + closing).strip())
    return "\n".join(lines)


def _framed(frame: str, body: str) -> str:
    """Put the prompt into a frame; a frame that is a question ends in a question mark."""
    text = frame.format(_lowered(body))
    asks = frame.startswith(("Could you {}", "Would you"))
    return text[:-1] + "?" if asks and text.endswith(".") else text


def _reworded(prompt: str) -> str:
    """Swap words for synonyms outside the tokens."""
    table = dict(_SYNONYMS)
    pattern = re.compile(rf"\b({'|'.join(table)})\b", re.IGNORECASE)
    return "".join(
        piece if index % 2 else pattern.sub(lambda hit: table[hit.group(1).lower()], piece)
        for index, piece in enumerate(_TOKEN.split(prompt))
    )


def _lowered(text: str) -> str:
    """Start with a small letter, unless the first word is a token, a name or "I"."""
    first = text.split(" ", 1)[0]
    plain = first.isalpha() and first[1:].islower()
    return text[:1].lower() + text[1:] if plain else text
