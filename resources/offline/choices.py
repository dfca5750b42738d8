"""Answering multiple-choice questions.

What belongs here: finding the options in a question, and choosing the option that agrees best with
the facts measured in the pixels. No model is called.
"""

from __future__ import annotations

import re

from resources.offline import vocabulary
from resources.offline.comparisons import brightest_first
from resources.offline.image_facts import Facts
from resources.offline.prompt_parsing import asked_about, tokens
from resources.offline.seeded_choice import SeededChoice
from resources.offline.several_images import best_of_several
from resources.offline.stated_facts import StatedFact, correctness

_OPTION = re.compile(r"(?:^|\s)(?:\(([A-H])\)|([A-H])[.):])\s+(?=\S)")
_IMAGE = re.compile(r"image (\d+)\.?", re.IGNORECASE)
_PHRASES = ("{}", "on the {}", "{} forms", "{} format")


def options(question: str) -> tuple[str, dict[str, str]]:
    """Return the question's stem and its options by letter, none when it offers no choice."""
    hits = list(_OPTION.finditer(question))
    letters = [hit.group(1) or hit.group(2) for hit in hits]
    if len(letters) < 2 or letters != list("ABCDEFGH"[: len(letters)]):
        return question, {}
    ends = [hit.start() for hit in hits[1:]] + [len(question)]
    texts = [
        question[hit.end() : end].strip().split("\n")[0]
        for hit, end in zip(hits, ends, strict=True)
    ]
    return question[: hits[0].start()], dict(zip(letters, texts, strict=True))


def best(stem: str, offered: dict[str, str], pictures: dict[int, Facts]) -> str:
    """Return the letter of the option that agrees best with the pictures."""
    if len(pictures) > 1 and (letter := best_of_several(stem, offered, pictures)):
        return letter
    seeded = SeededChoice("choice", stem, sorted(offered.items()), sorted(pictures.items()))
    scores = {letter: _agreement(stem, text, pictures) for letter, text in offered.items()}
    top = max(scores.values())
    return seeded.choice("tie", [letter for letter, score in scores.items() if score == top])


def _agreement(stem: str, option: str, pictures: dict[int, Facts]) -> float:
    alone = _IMAGE.fullmatch(option.strip())
    named = [int(alone[1])] if alone else tokens(option)
    named = [number for number in named if number in pictures]
    if len(named) == 1:
        return _fits_stem(stem, named[0], pictures)
    asked = asked_about(stem, pictures)
    facts_stated = _stated(option)
    total = sum(
        _weight(stem, StatedFact(number, kind, value), pictures[number])
        for number in asked
        for kind, value in facts_stated
    )
    return total / max(1, len(asked) * len(facts_stated))


def _fits_stem(stem: str, number: int, pictures: dict[int, Facts]) -> float:
    """Score an option that is a picture by what the question says of the picture wanted."""
    words = stem.lower()
    order = brightest_first(pictures)
    if "brightest" in words or "lightest" in words:
        return -float(order.index(number))
    if "darkest" in words:
        return float(order.index(number))
    return sum(
        _weight(stem, StatedFact(number, kind, value), pictures[number])
        for kind, value in _stated(stem)
    )


def _weight(stem: str, fact: StatedFact, facts: Facts) -> float:
    """Return how well one value fits; a colour counts by its share, or as the background."""
    if fact.kind != vocabulary.COLOUR:
        return 2.0 * correctness(fact, facts) - 1.0
    if "background" in stem.lower():
        return 1.0 if fact.value == facts.background else -1.0
    share = dict(facts.colours).get(fact.value)
    return correctness(fact, facts) - 1.0 if share is None else 0.5 + share


def _stated(text: str) -> list[tuple[str, str]]:
    """Return the facts a text states, trying short phrases around a bare word."""
    for phrase in _PHRASES:
        found = vocabulary.stated(phrase.format(text.strip(" .")))
        if found:
            return [(kind, value) for _, kind, value in found]
    return []
