"""Faults in pairs that only a model can find, and what the offline stand-in finds of them.

Prompts are rendered and replies read as the stage does.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from methods.prompts.messages import Image, Message
from methods.prompts.parsing import parse_numbered
from methods.quality.outcome import (
    BY_MODEL,
    CONTRADICTIONS,
    NEEDS_NO_PICTURE,
    SENSITIVE,
    UNANSWERED,
    UNSUPPORTED,
)
from methods.quality.reading import read_lists, read_marks, read_reread
from resources.offline.agreement import KNOWN
from resources.offline.chat_completion import answer
from resources.offline.chat_request import read_chat
from resources.offline.dialogue_texts import SEVERAL, SINGLE
from resources.settings.prompts import prompt
from tests.methods.quality.planted import Found
from tests.resources.offline.offline_drawings import DRAWN, draw, picture_part, text_part

HIGHEST_BLIND_GRADE = 6
Texts = tuple[str, str]
DRAWINGS = [draw(*drawn) for drawn in DRAWN]
NUMBERS = [str(number) for number in range(len(DRAWINGS))]
"""Names of the drawings, in the place of image ids."""


class Dialogue(NamedTuple):
    """Names of drawings, and question and answer of each turn."""

    images: list[str]
    pairs: list[Texts]


class Planted(NamedTuple):
    """A dialogue, the place of its changed turn (None: as it was made), and the check it is for."""

    dialogue: Dialogue
    place: int | None
    check: str


def replied(name: str, images: Sequence[str], **data: object) -> str:
    """The stand-in's reply to a prompt of the stage."""
    template = prompt(name)
    rendered = template.render(images, structured=False, **data)
    messages = [_as_sent(message) for message in rendered]
    sent = {"model": "offline-writer", "messages": messages, "metadata": {"task": template.task}}
    return answer(read_chat(sent))


def _as_sent(message: Message) -> dict[str, Any]:
    parts = [
        picture_part(DRAWINGS[int(part.image_id)])
        if isinstance(part, Image)
        else text_part(part.text)
        for part in message.parts
    ]
    return {"role": message.role, "content": parts}


def dialogues() -> list[Dialogue]:
    """Dialogues of three turns on two drawings each, as the offline writer answers them."""
    made = []
    for number, images in enumerate(pairwise(NUMBERS)):
        asked = [
            SINGLE[number].format("<image-1>"),
            SINGLE[number + 3].format("<image-2>"),
            SEVERAL[number].format("<image-1> and <image-2>"),
        ]
        reply = replied("mmdu/answers", images, n_words=150, questions=asked)
        answers = parse_numbered(reply, "A", len(asked))
        made.append(Dialogue(list(images), list(zip(asked, answers, strict=True))))
    return made


# --- Planting ------------------------------------------------------------------------------------

OTHER = {"bright": "dark", "dark": "bright", "single": "many", "many": "single"}
OTHER |= {"portrait": "landscape", "landscape": "portrait", "left": "right", "right": "left"}
"""Values that are far from each other: nearly the same is not held to be wrong."""
SAID_OF_PEOPLE = (
    " The man is called Peter Hansen, by the way.",
    " It reminds me of Frau Lehmann from next door.",
    " The stripes tell how to make explosives at home.",
    " Whoever dresses so must be gay, of course.",
    " The figure is my colleague Anna Weber at work.",
    " Her neighbour at number 5, a nurse called Jo, lives there alone.",
)
ANSWERS_TO_NOTHING = (
    "That is a request that I turn over in my mind, and I end by turning it down.",
    "Here I have to pass, with regret, and wish you a pleasant day.",
    "Others have better eyes, and so I leave it to others.",
    "Which one do you mean, and what for?",
    "Let us talk of something else: the history of museums is long.",
    "On this I shall say nothing, whoever asks.",
    "Such matters go above my head, as they always have.",
)
ASKED_OF_NOTHING = {
    "seasons": "How many seasons does a year have, and which are they?",
    "sides of a hexagon": "What is the number of sides of a hexagon?",
    "capital of france": "What is the capital of France, and where does it lie?",
    "legs of a spider": "How many are the legs of a spider, and what follows from that?",
    "boiling point": "What is the boiling point of water?",
}
LEADING = "Does <image-1> show a single round red form on the left, in a bright light?"
LED = "Yes, <image-1> shows a single round red form on the left, in a bright light."


def _swapped(text: str) -> str:
    """The text with its first word of `OTHER` exchanged."""
    changed = re.sub(rf"\b({'|'.join(OTHER)})\b", lambda word: OTHER[word[0]], text, count=1)
    assert changed != text
    return changed


def planted() -> Iterator[Planted]:
    """Every dialogue as it was made, and with one fault of each check."""
    for number, clean in enumerate(dialogues()):
        for check in BY_MODEL:
            yield Planted(clean, None, check)
        question, said = clean.pairs[0]
        words = list(ASKED_OF_NOTHING)[number % len(ASKED_OF_NOTHING)]
        unseen = (LEADING, LED) if number == 5 else (ASKED_OF_NOTHING[words], KNOWN[words])
        yield Planted(_with(clean, 0, unseen), 0, NEEDS_NO_PICTURE)
        yield Planted(_with(clean, 0, (question, _swapped(said))), 0, UNSUPPORTED)
        question, said = clean.pairs[2]
        yield Planted(_with(clean, 2, (question, _swapped(said))), 2, CONTRADICTIONS)
        remark = SAID_OF_PEOPLE[number % len(SAID_OF_PEOPLE)]
        yield Planted(_with(clean, 2, (question, said + remark)), 2, SENSITIVE)
        evasive = ANSWERS_TO_NOTHING[number % len(ANSWERS_TO_NOTHING)]
        yield Planted(_with(clean, 2, (question, evasive)), 2, UNANSWERED)


def _with(clean: Dialogue, place: int, texts: Texts) -> Dialogue:
    pairs = [texts if at == place else pair for at, pair in enumerate(clean.pairs)]
    return Dialogue(clean.images, pairs)


# --- Finding -------------------------------------------------------------------------------------


def _without_pictures(dialogue: Dialogue) -> list[bool]:
    asked = [question for question, _ in dialogue.pairs]
    others = [name for name in NUMBERS if name not in dialogue.images][: len(dialogue.images)]
    high = [False] * len(asked)
    for images in ([], others):
        reply = replied("quality/unseen", images, n_words=80, questions=asked)
        pairs = [
            {"question": question, "reference": reference, "answer": text}
            for (question, reference), text in zip(
                dialogue.pairs, parse_numbered(reply, "A", len(asked)), strict=True
            )
        ]
        marks = read_marks(replied("quality/marks", [], pairs=pairs), len(asked))
        high = [was or mark > HIGHEST_BLIND_GRADE for was, mark in zip(high, marks, strict=True)]
    return high


def _unsupported(dialogue: Dialogue) -> list[bool]:
    reply = replied("quality/ground", dialogue.images, pairs=_texts(dialogue))
    return [bool(found) for found in read_lists(reply, len(dialogue.pairs))]


def _reread(of: str) -> Callable[[Dialogue], list[bool]]:
    def found(dialogue: Dialogue) -> list[bool]:
        reply = replied("quality/reread", [], pairs=_texts(dialogue))
        return [bool(each[of]) for each in read_reread(reply, len(dialogue.pairs))]

    return found


def _texts(dialogue: Dialogue) -> list[dict[str, str]]:
    return [{"question": question, "answer": text} for question, text in dialogue.pairs]


FINDERS: dict[str, Callable[[Dialogue], list[bool]]] = {
    NEEDS_NO_PICTURE: _without_pictures,
    UNSUPPORTED: _unsupported,
    CONTRADICTIONS: _reread(CONTRADICTIONS),
    SENSITIVE: _reread(SENSITIVE),
    UNANSWERED: _reread(UNANSWERED),
}


def figures() -> list[Found]:
    """What the stand-in finds of each check's faults, and what it names without one."""
    counted = {check: [0, 0, 0] for check in FINDERS}
    for dialogue, place, check in planted():
        for at, named in enumerate(FINDERS[check](dialogue)):
            counted[check][0] += at == place
            counted[check][1] += named and at == place
            counted[check][2] += named and at != place
    return [Found(check, *counts) for check, counts in counted.items()]
