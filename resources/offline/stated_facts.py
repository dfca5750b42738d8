"""The visual facts that a text states, each with the picture it is stated of.

What belongs here: attributing stated facts to pictures, and comparing them with the facts measured in
the pixels. These rules stand in for a model's reading; no model is called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from resources.offline import vocabulary
from resources.offline.image_facts import Facts

_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_MENTION = re.compile(
    r"<image-(?P<token>\d+)>|\bimage[ -]?(?P<digits>\d+)\b"
    rf"|\b(?P<ordinal>{'|'.join(_ORDINALS)}) (?:image|picture|photo|photograph|one)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s*(?:,|and|&|,\s*and|\s)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class StatedFact:
    """One fact stated of one picture."""

    image: int
    kind: str
    value: str


def mentions(text: str) -> list[tuple[int, tuple[int, ...]]]:
    """Return (position, pictures) of each mention; mentions joined by "and" count as one."""
    found: list[tuple[int, tuple[int, ...]]] = []
    end = -1
    for match in _MENTION.finditer(text):
        number = _number(match)
        if found and _JOINED.fullmatch(text, end, match.start()):
            found[-1] = (found[-1][0], (*found[-1][1], number))
        else:
            found.append((match.start(), (number,)))
        end = match.end()
    return found


def mentioned(text: str) -> set[int]:
    """Return all the pictures a text mentions."""
    return {number for _, group in mentions(text) for number in group}


def stated_facts(text: str, default: int | None = None) -> list[StatedFact]:
    """Return a text's facts, each once, in order.

    A fact belongs to the pictures mentioned last before it; before any mention, to the default
    picture, and without a default to none.
    """
    groups = mentions(text)
    found: dict[StatedFact, None] = {}
    for position, kind, value in vocabulary.stated(text):
        pictures: tuple[int, ...] = () if default is None else (default,)
        for start, group in groups:
            if start < position:
                pictures = group
        for picture in pictures:
            found[StatedFact(picture, kind, value)] = None
    return list(found)


def true_values(facts: Facts, kind: str) -> tuple[str, ...]:
    """Return the right values of a kind of fact, the most important one first."""
    if kind == vocabulary.COLOUR:
        return tuple(dict.fromkeys((*facts.colour_names, facts.background)))
    return (str(getattr(facts, kind)),)


def correctness(fact: StatedFact, facts: Facts) -> float:
    """Return 1 for a right fact, 0.5 for one that is nearly right, 0 for a wrong one."""
    right = true_values(facts, fact.kind)
    if fact.value in right:
        return 1.0
    return 0.5 if any(vocabulary.near(fact.value, value) for value in right) else 0.0


def _number(match: re.Match[str]) -> int:
    if match.group("ordinal"):
        return _ORDINALS.index(match.group("ordinal").lower()) + 1
    return int(match.group("token") or match.group("digits"))
