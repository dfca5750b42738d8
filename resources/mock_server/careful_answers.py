"""Correct answers of the mock server: sentences that state, compare and interpret the facts of images,
in the words of `vocabulary.py`.
"""

import re
from collections.abc import Sequence

from resources.mock_server.chat_request import ReceivedRequest, asked_about
from resources.mock_server.image_facts import Facts
from resources.mock_server.seeded_choice import SeededChoice
from resources.mock_server.vocabulary import (
    COLOUR,
    COUNT,
    KINDS,
    LIGHT,
    ORIENTATION,
    PLACE,
    SHAPE,
    VIVIDNESS,
)

_NUMBERED = re.compile(r"^\s*Q(\d+)\s*[:.]\s*", re.MULTILINE)
_SHORT = (COLOUR, LIGHT, SHAPE, PLACE, COUNT)
_MANY = 6
_NO_PICTURE = "There is no picture in this conversation, so nothing visual can be said about it."
_COUNTED = {"single": "a single {}form", "few": "a few {}forms", "many": "many {}forms"}
_POSITION_PHRASES = {"left": "on the left", "centre": "at the centre", "right": "on the right"}
_MOODS = {
    "dark": ("a solemn and mysterious atmosphere", "a dreamlike mood, as if seen at night's edge"),
    "dim": ("a calm, reflective mood", "a quiet atmosphere with some tension in it"),
    "bright": ("a lively and open atmosphere", "a cheerful mood, full of energy"),
}
_ENERGY = {
    "vivid": ("This evokes energy and invites a story.", "It suggests movement and a story."),
    "muted": ("This evokes stillness and invites reflection.", "It suggests harmony."),
}


def write_answer(request: ReceivedRequest) -> str:
    """Answer the question of the section `question`."""
    return careful_answer(" ".join(request.section("question").split()), request.labelled, "expert")


def split_questions(text: str) -> list[tuple[int, str]]:
    """Return (number, question) for each `Qi:` line with its continuation lines."""
    pieces = _NUMBERED.split(text)
    if len(pieces) < 3:
        return [(1, text.strip())]
    return [
        (int(number), " ".join(question.split()))
        for number, question in zip(pieces[1::2], pieces[2::2], strict=True)
    ]


def careful_answer(question: str, pictures: dict[int, Facts], voice: str) -> str:
    """Answer a question with correct facts on all images that it asks about.

    Args:
        question: The question.
        pictures: The facts of the images.
        voice: The seed of the wording.
    """
    if not pictures:
        return _NO_PICTURE
    chosen = {number: pictures[number] for number in asked_about(question, pictures)}
    seeded = SeededChoice(voice, question, sorted(chosen.items()))
    if len(chosen) == 1:
        number, facts = next(iter(chosen.items()))
        sentences = _at_length(number, facts, _aspect(question), seeded)
    else:
        kinds = _kinds_told(len(chosen))
        sentences = [in_one(number, facts, kinds, seeded) for number, facts in chosen.items()]
        sentences += _comparisons(chosen)
    first = next(iter(chosen.values()))
    return " ".join([*sentences, _interpretation(first, seeded, len(chosen) > 1)])


def _kinds_told(number: int) -> tuple[str, ...]:
    """Return the kinds of fact to state for each of `number` images: fewer kinds for more images."""
    if number <= 3:
        return KINDS
    return _SHORT if number <= _MANY else (COLOUR, LIGHT)


def _aspect(question: str) -> str:
    words = question.lower()
    if re.search(r"\b(light|bright|dark|shadow|mood|atmosphere)", words):
        return LIGHT
    if re.search(r"\b(shape|form|outline|composition|subject|arrange|structure)", words):
        return SHAPE
    return COLOUR


def token(number: int) -> str:
    """Return the token of an image."""
    return f"<image-{number}>"


def listed(words: Sequence[str]) -> str:
    """Join words as in prose: "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _palette(facts: Facts) -> str:
    names = facts.colour_names
    if len(names) == 1:
        text = f"almost wholly {names[0]}"
    else:
        rest = [f"some {names[1]}"] + [f"a little {name}" for name in names[2:]]
        text = f"mostly {names[0]} with {listed(rest)}"
    return text if facts.background == names[0] else f"{text} on a {facts.background} background"


def _forms(facts: Facts, kinds: Sequence[str]) -> str:
    """Describe the number, outline and position of the subject, as far as `kinds` includes these."""
    outline = f"{facts.shape} " if SHAPE in kinds else ""
    counted = _COUNTED[facts.count] if COUNT in kinds else "the main {}subject"
    place = f" {_POSITION_PHRASES[facts.place]}" if PLACE in kinds else ""
    return counted.format(outline) + place


def _at_length(number: int, facts: Facts, first: str, seeded: SeededChoice) -> list[str]:
    """State every fact of one image in a few sentences, the kind that was asked for first."""
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
        SHAPE: f"The picture holds {_forms(facts, KINDS)}, in {facts.orientation} format, and "
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
    """State the given kinds of facts of one image in one sentence.

    Args:
        number: The number of the image.
        facts: Its facts.
        kinds: The kinds.
        seeded: Selects the wording.
    """
    clauses = []
    if COLOUR in kinds:
        clauses.append(f"is {_palette(facts)}")
    tones = [getattr(facts, kind) for kind in (LIGHT, VIVIDNESS) if kind in kinds]
    if tones:
        clauses.append(f"has a {listed(tones)} look")
    if {SHAPE, COUNT, PLACE} & set(kinds):
        verb = seeded.choice(f"verb{number}", ("shows", "holds", "presents"))
        clauses.append(f"{verb} {_forms(facts, kinds)}")
    if ORIENTATION in kinds:
        clauses.append(f"uses a {facts.orientation} format")
    return f"{token(number)} {listed(clauses)}."


def brightest_first(pictures: dict[int, Facts]) -> list[int]:
    """Return the numbers of the images from the brightest to the darkest."""
    return sorted(pictures, key=lambda number: (-pictures[number].luminance, number))


def _comparisons(pictures: dict[int, Facts]) -> list[str]:
    """Return sentences on light, shared colours and shared outlines of two or more images."""
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
    """Name the largest group of images that share a colour."""
    groups: dict[str, list[int]] = {}
    for number, facts in pictures.items():
        for name in facts.colour_names:
            groups.setdefault(name, []).append(number)
    name, alike = max(groups.items(), key=lambda item: (len(item[1]), item[0]))
    if len(alike) < 2:
        return "While each has its own colours, they share none."
    return f"Meanwhile {listed([token(number) for number in alike])} share {name}."


def _interpretation(facts: Facts, seeded: SeededChoice, several: bool) -> str:
    """Return a closing sentence on the mood of an image, or of several."""
    subject = "Taken together, they create" if several else "Together, these create"
    mood = seeded.choice("mood", _MOODS[facts.light])
    return f"{subject} {mood}. {seeded.choice('energy', _ENERGY[facts.vividness])}"
