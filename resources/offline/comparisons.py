"""Sentences that compare pictures.

What belongs here: comparisons that follow from the pictures' facts, and the interpreting sentence at
the end of a careful answer. No model writes these sentences.
"""

from __future__ import annotations

from resources.offline.descriptions import listed, token
from resources.offline.image_facts import Facts
from resources.offline.seeded_choice import SeededChoice

_MOODS = {
    "dark": ("a solemn and mysterious atmosphere", "a dreamlike mood, as if seen at night's edge"),
    "dim": ("a calm, reflective mood", "a quiet atmosphere with some tension in it"),
    "bright": ("a lively and open atmosphere", "a cheerful mood, full of energy"),
}
_ENERGY = {
    "vivid": ("This evokes energy and invites a story.", "It suggests movement and a story."),
    "muted": ("This evokes stillness and invites reflection.", "It suggests harmony."),
}


def brightest_first(pictures: dict[int, Facts]) -> list[int]:
    """Return the pictures' numbers from the brightest to the darkest."""
    return sorted(pictures, key=lambda number: (-pictures[number].luminance, number))


def compare(pictures: dict[int, Facts]) -> list[str]:
    """Return sentences on light, shared colours and shared outlines of two or more pictures."""
    order = brightest_first(pictures)
    top, bottom = order[0], order[-1]
    sentences = []
    if pictures[top].luminance - pictures[bottom].luminance > 0.03:
        sentences.append(f"By contrast in light, {token(top)} is brighter than {token(bottom)}.")
    else:
        sentences.append("Compared in light, they are close to one another.")
    sentences.append(_shared_colour(pictures))
    for shape in ("round", "boxy", "triangular"):
        alike = [number for number, facts in pictures.items() if facts.shape == shape]
        if len(alike) > 1:
            names = listed([token(number) for number in alike])
            sentences.append(f"Moreover, {names} share a {shape} outline, therefore they rhyme.")
            break
    else:
        sentences.append("Because their outlines differ, each keeps a character of its own.")
    return sentences


def _shared_colour(pictures: dict[int, Facts]) -> str:
    """Say which pictures share a colour, for the largest group of two or more."""
    groups: dict[str, list[int]] = {}
    for number, facts in pictures.items():
        for name in facts.colour_names:
            groups.setdefault(name, []).append(number)
    name, alike = max(groups.items(), key=lambda item: (len(item[1]), item[0]))
    if len(alike) < 2:
        return "While each has its own colours, they share none."
    return f"Meanwhile {listed([token(number) for number in alike])} share {name}."


def interpretation(facts: Facts, seeded: SeededChoice, several: bool) -> str:
    """Close with what the look of a picture, or of all of them together, suggests."""
    subject = "Taken together, they create" if several else "Together, these create"
    mood = seeded.choice("mood", _MOODS[facts.light])
    return f"{subject} {mood}. {seeded.choice('energy', _ENERGY[facts.vividness])}"
