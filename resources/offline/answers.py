"""True answers to questions about pictures.

Belongs here: the `answer expert` role, and the careful answer to one question that the careful
candidate gives too. Answers come from the pixels' facts by rule; no model is called.
"""

from __future__ import annotations

import re

from resources.offline import vocabulary
from resources.offline.conversation import ChatRequest
from resources.offline.describe import at_length, in_one
from resources.offline.material import asked_about, labelled, sections
from resources.offline.picks import Picker
from resources.offline.relations import compare, interpretation
from resources.offline.vision import Facts

_NUMBERED = re.compile(r"^\s*Q(\d+)\s*[:.]\s*", re.MULTILINE)
_SHORT = (
    vocabulary.COLOUR,
    vocabulary.LIGHT,
    vocabulary.SHAPE,
    vocabulary.PLACE,
    vocabulary.COUNT,
)
_MANY = 6
_NO_PICTURE = "There is no picture in this conversation, so nothing visual can be said about it."


def answer_expert(request: ChatRequest) -> str:
    """Answer each numbered question in a block of its own."""
    message = request.last_user
    pictures = labelled(message)
    questions = split_questions(sections(message.text).get("questions", ""))
    return "\n\n".join(
        f"**A{number}**: {careful_answer(question, pictures, 'expert')}"
        for number, question in questions
    )


def split_questions(text: str) -> list[tuple[int, str]]:
    """Return (number, question) of each `Qi:` line and the lines that continue it."""
    pieces = _NUMBERED.split(text)
    if len(pieces) < 3:
        return [(1, text.strip())]
    return [
        (int(number), " ".join(question.split()))
        for number, question in zip(pieces[1::2], pieces[2::2], strict=True)
    ]


def careful_answer(question: str, pictures: dict[int, Facts], voice: str) -> str:
    """Answer a question with every fact right, for all the pictures it asks about."""
    if not pictures:
        return _NO_PICTURE
    chosen = {number: pictures[number] for number in asked_about(question, pictures)}
    picker = Picker(voice, question, sorted(chosen.items()))
    if len(chosen) == 1:
        number, facts = next(iter(chosen.items()))
        sentences = at_length(number, facts, aspect(question), picker)
    else:
        kinds = _kinds_told(len(chosen))
        sentences = [in_one(number, facts, kinds, picker) for number, facts in chosen.items()]
        sentences += compare(chosen)
    first = next(iter(chosen.values()))
    return " ".join([*sentences, interpretation(first, picker, len(chosen) > 1)])


def _kinds_told(number: int) -> tuple[str, ...]:
    """Return the kinds of fact told of each of so many pictures, fewer the more there are."""
    if number <= 3:
        return vocabulary.KINDS
    return _SHORT if number <= _MANY else (vocabulary.COLOUR, vocabulary.LIGHT)


def aspect(question: str) -> str:
    """Return the kind of fact a question asks about first of all."""
    words = question.lower()
    if re.search(r"\b(light|bright|dark|shadow|mood|atmosphere)", words):
        return vocabulary.LIGHT
    if re.search(r"\b(shape|form|outline|composition|subject|arrange|structure)", words):
        return vocabulary.SHAPE
    return vocabulary.COLOUR
