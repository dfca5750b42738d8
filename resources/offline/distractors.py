"""The task `distractors`: wrong answers for a question about several pictures.

What belongs here: other titles than the right one, and statements turned into others. Pictures are not
looked at: a wrong answer has to be unlike the right one alone. No model is called.
"""

from __future__ import annotations

import json

from resources.offline.chat_request import ChatRequest
from resources.offline.prompt_parsing import exactly, sections
from resources.offline.seeded_choice import SeededChoice

_KINDS = (
    *("Bridges", "Castles", "Coins", "Ferries", "Fountains", "Gardens", "Glaciers", "Harbours"),
    *("Kites", "Lakes", "Locomotives", "Maps", "Markets", "Mountains", "Observatories"),
    *("Orchards", "Paintings", "Palaces", "Railway stations", "Rivers", "Sculptures", "Towers"),
)
_FORMS = ("{}", "{} of the north", "{} by type", "{} at night", "{} in the 19th century")
_SENTENCE = 6
"""From so many words on, a right answer is a statement rather than a title."""


def write_distractors(request: ChatRequest) -> str:
    """Return as many wrong answers as are asked for."""
    given = sections(request.last_user.text)
    answer = given.get("answer", "")
    known = {each.casefold() for each in (answer, *given.get("right", "").splitlines())}
    seeded = SeededChoice("distractors", answer, given.get("question", ""))
    form = "It is about {}." if len(answer.split()) >= _SENTENCE else "{}"
    names = [
        form.format(kind.format(name))
        for name in seeded.order("names", _KINDS)
        for kind in [seeded.choice(f"form of {name}", _FORMS)]
    ]
    wrong = [name for name in names if name.casefold() not in known]
    return json.dumps({"distractors": wrong[: exactly(request.system, "wrong answers", 3)]})
