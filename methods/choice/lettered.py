"""Lettered choices: 2 to 8 texts under the letters A to H, in the order that they are asked in.

What belongs here: orders of choices (as they stand, shifted, shuffled), the letter of the right choice
in an order, and the text of a question with its choices. An order is a tuple of places: the choice
under letter i is `choices[order[i]]`.
"""

import random
from collections.abc import Sequence

from methods.evaluation.items import Item
from methods.prompts.messages import IMAGE_HERE, Message, Part, Text, interleave

LETTERS = "ABCDEFGH"
FEWEST, MOST = 2, len(LETTERS)
NO_CHOICE = "Z"
"""The reading of an answer that names none of the choices (MMBench, 4.1)."""

SHIFT = "shift-"
"""What the trials of circular passes begin with; the shift follows."""

Order = tuple[int, ...]
QUESTION = "Question"
"""What stands before a question that has a hint."""
_QUESTION = f"\n{QUESTION}: "


def plain(n_choices: int) -> Order:
    """The choices as they stand."""
    return tuple(range(n_choices))


def shifted(n_choices: int, shift: int) -> Order:
    """The choices shifted circularly: under shift 1 the second choice is A, the first the last."""
    return tuple((place + shift) % n_choices for place in range(n_choices))


def shuffled(n_choices: int, seed: str) -> Order:
    """The choices in another order than they stand in, the same each time for a seed.

    No choice keeps its letter: who repeats a letter names another choice.
    """
    draw = random.Random(seed)
    order = list(range(n_choices))
    while n_choices > 1 and any(place == now for place, now in enumerate(order)):
        draw.shuffle(order)
    return tuple(order)


def in_order(choices: Sequence[str], order: Order) -> tuple[str, ...]:
    """The texts of the choices in an order."""
    return tuple(choices[place] for place in order)


def letter_in(order: Order, key: str) -> str:
    """The letter in an order of the choice that has the letter `key` as the choices stand."""
    return LETTERS[order.index(LETTERS.index(key))]


def key_of(item: Item) -> str | None:
    """The letter of the right choice; None where it is held out."""
    return item.turns[0].references.get("key")


def lettered(choices: Sequence[str], form: str = "{}. {}") -> str:
    """One choice a line, by default as `A. text`."""
    return "\n".join(form.format(*each) for each in zip(LETTERS, choices, strict=False))


# --- The text of a question ------------------------------------------------------------------------


def with_hint(
    question: str, hint: str, name: str, n_images: int, question_name: str = QUESTION
) -> str:
    """The text of a turn: its images, then the hint under `name` if there is one, then the question.

    `question_name` stands before the question if there is a hint; `question_and_hint` reads the
    default.

    A question that says itself where its images are, by as many `<ImageHere>`, gets no others.
    """
    text = f"{name}: {hint}\n{question_name}: {question}" if hint else question
    return text if IMAGE_HERE in text else _images(n_images) + text


def question_and_hint(text: str, name: str, n_images: int) -> tuple[str, str]:
    """The question and the hint of a turn's text; `with_hint` makes the same text of them."""
    text = text.removeprefix(_images(n_images))
    if text.startswith(f"{name}: ") and _QUESTION in text:
        hint, _, question = text.removeprefix(f"{name}: ").partition(_QUESTION)
        if hint and question.strip():
            return question, hint
    return text, ""


def _images(n_images: int) -> str:
    if n_images == 1:
        return f"{IMAGE_HERE}\n"
    named = (f"Image{number}: {IMAGE_HERE}" for number in range(1, n_images + 1))
    return ", ".join(named) + "\n" if n_images else ""


def asked(item: Item, below: str) -> Message:
    """The user message of an item's first turn, its images in place, `below` after the question."""
    turn = item.turns[0]
    shown = [item.image_ids[position - 1] for position in turn.image_positions]
    parts: list[Part] = list(interleave(turn.question, shown))
    # Choices are never searched for the places of images.
    last = parts.pop() if parts and isinstance(parts[-1], Text) else Text("")
    above = last.text if isinstance(last, Text) else ""
    return Message("user", (*parts, Text(f"{above}\n{below}")))
