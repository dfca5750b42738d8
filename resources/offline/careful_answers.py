"""Correct answers to questions about pictures.

What belongs here: the task `answers`, and the answer to one question, which the careful evaluated
model gives too. Answers follow by rule from the facts measured in the pixels; no model is called.
"""

from __future__ import annotations

import re

from resources.offline import vocabulary
from resources.offline.chat_request import ChatRequest
from resources.offline.comparisons import compare, interpretation
from resources.offline.descriptions import at_length, in_one
from resources.offline.image_facts import Facts
from resources.offline.prompt_parsing import asked_about, labelled, sections
from resources.offline.seeded_choice import SeededChoice

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


def write_answers(request: ChatRequest) -> str:
    """Answer each numbered question, one block an answer."""
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
    seeded = SeededChoice(voice, question, sorted(chosen.items()))
    if len(chosen) == 1:
        number, facts = next(iter(chosen.items()))
        sentences = at_length(number, facts, aspect(question), seeded)
    else:
        kinds = _kinds_told(len(chosen))
        sentences = [in_one(number, facts, kinds, seeded) for number, facts in chosen.items()]
        sentences += compare(chosen)
    first = next(iter(chosen.values()))
    return " ".join([*sentences, interpretation(first, seeded, len(chosen) > 1)])


def _kinds_told(number: int) -> tuple[str, ...]:
    """Return the kinds of fact stated of each of `number` pictures: the more pictures, the fewer."""
    if number <= 3:
        return vocabulary.KINDS
    return _SHORT if number <= _MANY else (vocabulary.COLOUR, vocabulary.LIGHT)


def aspect(question: str) -> str:
    """Return the kind of fact that a question asks about mainly."""
    words = question.lower()
    if re.search(r"\b(light|bright|dark|shadow|mood|atmosphere)", words):
        return vocabulary.LIGHT
    if re.search(r"\b(shape|form|outline|composition|subject|arrange|structure)", words):
        return vocabulary.SHAPE
    return vocabulary.COLOUR
