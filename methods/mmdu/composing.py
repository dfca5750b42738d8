"""One dialogue out of the questions and answers of one image set (MMDU, 2.2 and B.2).

Questions about one image know it as `<image-1>`; in the dialogue it has the number of its place in
the order of appearance. That renumbering is what lets dialogues of any length be stacked. What
belongs here: renumbering, the place of `<ImageHere>`, the order of turns.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from methods.prompts.messages import IMAGE_HERE
from methods.prompts.parsing import ParseError

_REFERENCE = re.compile(r"<image-(\d+)>", re.IGNORECASE)


@dataclass(frozen=True)
class QA:
    """One question with its answer; `position` is its image's place in the set, None for several."""

    question_id: str
    position: int | None
    question: str
    answer: str


@dataclass(frozen=True)
class Turn:
    """One turn of a dialogue; `image_positions` are the images that enter with its question."""

    question_id: str
    question: str
    answer: str
    image_positions: tuple[int, ...]


def renumber(text: str, numbers: Mapping[int, int]) -> str:
    """`text` with every `<image-i>` made `<image-numbers[i]>`.

    Raises ParseError for an i that is not in `numbers`: the text speaks of an image that is not there.
    """

    def replaced(match: re.Match[str]) -> str:
        # Nine digits are wrong enough: int() refuses thousands of them with an error of its own.
        i = int(match.group(1)[:9])
        if i not in numbers:
            raise ParseError("unknown_image", f"<image-{i}> is not one of {sorted(numbers)}.")
        return f"<image-{numbers[i]}>"

    return _REFERENCE.sub(replaced, text)


@dataclass(frozen=True)
class Dialogue:
    """A composed dialogue; `positions` are the set positions of its images, in order of entry."""

    turns: tuple[Turn, ...]
    positions: tuple[int, ...]


def compose(qas: Sequence[QA], n_images: int) -> Dialogue:
    """The dialogue of a set: each image's own questions as it enters, then those about several.

    An image enters at the first turn that needs it: a single-image question brings its image, the
    first multi-image question brings whatever has not entered yet, so all images are seen whatever
    was lost on the way. Images are numbered in the order they enter (1-based).

    Raises ParseError when fewer than two images are left, a text refers to one that is not there, or
    a text holds an `<ImageHere>` of its own, which would bring in an image nobody gave.
    """
    singles = [qa for qa in qas if qa.position is not None]
    multis = [qa for qa in qas if qa.position is None]
    number_of: dict[int, int] = {}
    turns = []
    for qa in sorted(singles, key=lambda qa: qa.position or 0) + multis:
        if IMAGE_HERE in qa.question + qa.answer:
            raise ParseError("forged_image", f"{qa.question_id} holds {IMAGE_HERE} itself.")
        entering = [qa.position] if qa.position else list(range(1, n_images + 1))
        new = [position for position in entering if position not in number_of]
        for position in new:
            number_of[position] = len(number_of) + 1
        numbers = {1: number_of[qa.position]} if qa.position else number_of
        places = tuple(number_of[position] for position in new)
        turns.append(
            Turn(
                qa.question_id,
                place_images(renumber(qa.question, numbers), places),
                renumber(qa.answer, numbers),
                places,
            )
        )
    if len(number_of) < 2:
        raise ParseError(
            "too_few_images", f"Questions on {len(number_of)} of {n_images} images are left."
        )
    return Dialogue(tuple(turns), tuple(number_of))


def place_images(question: str, numbers: Sequence[int]) -> str:
    """`question` preceded by a labelled `<ImageHere>` for each image that enters with it."""
    places = ", ".join(f"Image{number}: {IMAGE_HERE}" for number in numbers)
    return f"{places}. {question}" if places else question
