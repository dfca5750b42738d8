"""Sentences that state a picture's facts.

What belongs here: the wording of facts, for every answer that describes pictures. The words are
those of `vocabulary.py`, so that the judge can read each stated fact back. No model writes these
sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

from resources.offline.image_facts import Facts
from resources.offline.seeded_choice import SeededChoice
from resources.offline.vocabulary import (
    COLOUR,
    COUNT,
    KINDS,
    LIGHT,
    ORIENTATION,
    PLACE,
    SHAPE,
    VIVIDNESS,
)

_COUNTED = {"single": "a single {}form", "few": "a few {}forms", "many": "many {}forms"}
_PLACED = {"left": "on the left", "centre": "at the centre", "right": "on the right"}


def token(number: int) -> str:
    """Return a picture's token."""
    return f"<image-{number}>"


def listed(words: Sequence[str]) -> str:
    """Join words as prose does: "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def palette(facts: Facts) -> str:
    """Word the dominant colours and the background."""
    names = facts.colour_names
    if len(names) == 1:
        text = f"almost wholly {names[0]}"
    else:
        rest = [f"some {names[1]}"] + [f"a little {name}" for name in names[2:]]
        text = f"mostly {names[0]} with {listed(rest)}"
    return text if facts.background == names[0] else f"{text} on a {facts.background} background"


def forms(facts: Facts, kinds: Sequence[str]) -> str:
    """Word the subject's number, outline and place, as far as the kinds ask for them."""
    outline = f"{facts.shape} " if SHAPE in kinds else ""
    counted = _COUNTED[facts.count] if COUNT in kinds else "the main {}subject"
    place = f" {_PLACED[facts.place]}" if PLACE in kinds else ""
    return counted.format(outline) + place


def at_length(number: int, facts: Facts, first: str, seeded: SeededChoice) -> list[str]:
    """State every fact of one picture in a few sentences, the asked kind of fact first."""
    label = token(number)
    names = facts.colour_names
    share = round(100 * facts.colours[0][1])
    rest = f", followed by {listed(names[1:])}" if len(names) > 1 else ""
    sentences = {
        COLOUR: f"The palette is led by {names[0]}, which covers about {share} per cent of the "
        f"frame{rest}, and everything is set against a {facts.background} background.",
        LIGHT: f"Overall the light is {facts.light} and the palette is {facts.vividness}, "
        + seeded.choice("tone", ("which sets the tone", "so the eye settles quickly"))
        + ".",
        SHAPE: f"The picture holds {forms(facts, KINDS)}, in {facts.orientation} format, and "
        + seeded.choice("eye", ("this is where the eye goes first", "this anchors the whole"))
        + ".",
    }
    order = [first, *(kind for kind in sentences if kind != first)]
    opening = seeded.choice(
        "opening",
        (f"Looking closely at {label}:", f"In {label} this stands out.", f"As for {label}:"),
    )
    return [opening, *(sentences[kind] for kind in order)]


def in_one(number: int, facts: Facts, kinds: Sequence[str], seeded: SeededChoice) -> str:
    """State the chosen kinds of fact of one picture in one sentence."""
    clauses = []
    if COLOUR in kinds:
        clauses.append(f"is {palette(facts)}")
    tones = [getattr(facts, kind) for kind in (LIGHT, VIVIDNESS) if kind in kinds]
    if tones:
        clauses.append(f"has a {listed(tones)} look")
    if {SHAPE, COUNT, PLACE} & set(kinds):
        verb = seeded.choice(f"verb{number}", ("shows", "holds", "presents"))
        clauses.append(f"{verb} {forms(facts, kinds)}")
    if ORIENTATION in kinds:
        clauses.append(f"uses a {facts.orientation} format")
    return f"{token(number)} {listed(clauses)}."
