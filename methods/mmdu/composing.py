"""Composes a dialogue from the questions and answers of one image set (MMDU, 2.2 and B.2).

A question about one image calls it `<image-1>`; in the dialogue images are numbered in the order in
which they enter, so references are renumbered.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from methods.ids import content_id
from methods.prompts.messages import IMAGE_HERE, IMAGE_NAME
from methods.prompts.parsing import ParseError

Between = tuple[int, int]
"""The least and the most of a number that is drawn, each as likely as the other."""


class MultiImageQuestions(NamedTuple):
    """Questions about images together: 1 to `until` of the set, of which `n_earlier` are known."""

    until: int
    n_earlier: int
    n_questions: int


@dataclass(frozen=True)
class DialogueShape:
    """Questions on each image, in order of position, and on images together, in order of entry."""

    singles: tuple[int, ...]
    together: tuple[MultiImageQuestions, ...]

    @property
    def n_turns(self) -> int:
        """Turns of a dialogue that loses none of them."""
        return sum(self.singles) + sum(group.n_questions for group in self.together)


def seeded_integer(between: Between, *parts: object) -> int:
    """A number between the two, both included, that depends on `parts` alone."""
    least, most = between
    return least + int(content_id("number", *parts), 16) % (most - least + 1)


def shape_of(
    n_images: int,
    per_image: Between,
    per_set: Between,
    most_turns: int,
    seed: int,
    set_id: str,
    enter_together: Between | None = None,
) -> DialogueShape:
    """Decide how many questions of which kind a set gets.

    If they are more than `most_turns`, questions on single images are left out, by seed: a dialogue is
    about images together.

    Args:
        n_images: The number of images of the set, at least two.
        per_image: The least and the most questions on a single image.
        per_set: The least and the most questions on several images.
        most_turns: The most questions.
        seed: The seed.
        set_id: The id of the set.
        enter_together: The least and the most images that enter at once, if images enter over several
            turns
        (MMDU, Figure 10): at least two at first, each time with a question of their own. None if all
            images
        enter at the first question that needs them.

    Returns:
        The numbers of questions.
    """
    n_together = min(seeded_integer(per_set, "set", seed, set_id), most_turns)
    places = range(1, n_images + 1)
    singles = {place: seeded_integer(per_image, "image", seed, set_id, place) for place in places}
    by_draw = sorted(places, key=lambda place: content_id("left out", seed, set_id, place))
    while sum(singles.values()) > most_turns - n_together:
        fullest = max(singles.values())
        singles[next(place for place in by_draw if singles[place] == fullest)] -= 1
    ends = _ends(n_images, enter_together, n_together, seed, set_id)
    n_each, n_more = divmod(n_together, len(ends))
    return DialogueShape(
        tuple(singles.values()),
        tuple(
            MultiImageQuestions(until, n_earlier, n_each + (group < n_more))
            for group, (n_earlier, until) in enumerate(zip([0, *ends], ends, strict=False))
        ),
    )


def _ends(
    n_images: int, enter_together: Between | None, most: int, seed: int, set_id: str
) -> Sequence[int]:
    """How many images have entered after each entry, which are `most` at most."""
    if enter_together is None:
        return [n_images]
    ends: list[int] = []
    while (entered := ends[-1] if ends else 0) < n_images:
        new = seeded_integer(enter_together, "entry", seed, set_id, len(ends))
        last = len(ends) == most - 1
        ends.append(n_images if last else min(n_images, max(2, entered + new)))
    return ends


_REFERENCE = re.compile(IMAGE_NAME, re.IGNORECASE)
_PLACES = re.compile(rf"\A(?:Image\d+: {re.escape(IMAGE_HERE)}(?:, )?)+\. ")


@dataclass(frozen=True)
class QuestionAnswer:
    """One question with its answer; `position` is its image's position in the set, None for several.

    A question on several is on the images 1 to `until` of the set, on all of them if that is None.
    """

    question_id: str
    position: int | None
    question: str
    answer: str
    until: int | None = None


@dataclass(frozen=True)
class ComposedTurn:
    """One turn of a dialogue; `image_positions` are the images that enter with its question."""

    question_id: str
    question: str
    answer: str
    image_positions: tuple[int, ...]


def renumber(text: str, numbers: Mapping[int, int]) -> str:
    """Renumber the image tokens of a text.

    Args:
        text: The text with `<image-i>` tokens.
        numbers: The new number of each i.

    Returns:
        The text.

    Raises:
        ParseError: `unknown_image`: a token refers to an image that is not in `numbers`.
    """

    def replaced(match: re.Match[str]) -> str:
        # Nine digits are enough to be wrong: int() raises an error of its own for thousands.
        i = int(match.group(1)[:9])
        if i not in numbers:
            raise ParseError("unknown_image", f"<image-{i}> is not one of {sorted(numbers)}.")
        return f"<image-{numbers[i]}>"

    return _REFERENCE.sub(replaced, text)


@dataclass(frozen=True)
class ComposedDialogue:
    """A composed dialogue; `positions` are the set positions of its images, in order of entry.

    `lost` are the questions that are no turns of it, with what is wrong with each.
    """

    turns: tuple[ComposedTurn, ...]
    positions: tuple[int, ...]
    lost: tuple[tuple[str, ParseError], ...] = ()


def compose(qas: Sequence[QuestionAnswer], n_images: int) -> ComposedDialogue:
    """Compose the dialogue of a set: single-image questions by image, then multi-image questions.

    An image enters at the first turn that needs it: a single-image question adds its image, a
    multi-image question all of its images that have not entered yet. So every image enters, even if its
    own questions were lost. Where multi-image questions are on ever more images of the set (MMDU,
    Figure 10), those on fewer come first, and before them the single-image questions on the images they
    add. Images are numbered from 1 in the order in which they enter.

    A question is left out if it or its answer refers to a missing image, or contains `<ImageHere>`,
    which would add an image that does not exist.

    Args:
        qas: The questions with their answers.
        n_images: The number of images of the set.

    Returns:
        The dialogue, and the questions that are left out.

    Raises:
        ParseError: Fewer than two images enter, or no multi-image question is left.
    """
    ends = sorted({n_images, *(qa.until for qa in qas if qa.until is not None)})

    def place(qa: QuestionAnswer) -> tuple[int, bool, int]:
        end = qa.until or n_images
        if qa.position is not None:
            end = next(limit for limit in ends if limit >= (qa.position or 0))
        return end, qa.position is None, qa.position or 0

    number_of: dict[int, int] = {}
    turns: list[ComposedTurn] = []
    lost: list[tuple[str, ParseError]] = []
    n_multis = 0
    for qa in sorted(qas, key=place):
        entering = [qa.position] if qa.position else list(range(1, (qa.until or n_images) + 1))
        new = [position for position in entering if position not in number_of]
        numbered = {position: number for number, position in enumerate(new, len(number_of) + 1)}
        try:
            turns.append(_turn(qa, number_of | numbered, list(numbered.values())))
        except ParseError as error:
            lost.append((qa.question_id, error))
        else:
            number_of |= numbered
            n_multis += qa.position is None
    if len(number_of) < 2:
        raise ParseError(
            "too_few_images", f"Questions on {len(number_of)} of {n_images} images are left."
        )
    if not n_multis:
        raise ParseError("no_multi_image_question", "No question on several images is left.")
    return ComposedDialogue(tuple(turns), tuple(number_of), tuple(lost))


def _turn(qa: QuestionAnswer, number_of: Mapping[int, int], places: Sequence[int]) -> ComposedTurn:
    """The turn of a question, with the images at `places` entering. Raises ParseError."""
    if IMAGE_HERE in qa.question + qa.answer:
        raise ParseError("forged_image", f"{qa.question_id} contains {IMAGE_HERE} itself.")
    numbers = {1: number_of[qa.position]} if qa.position else number_of
    return ComposedTurn(
        qa.question_id,
        place_images(renumber(qa.question, numbers), places),
        renumber(qa.answer, numbers),
        tuple(places),
    )


def place_images(question: str, numbers: Sequence[int]) -> str:
    """Put a labelled `<ImageHere>` before a question for each image that enters with it.

    Args:
        question: The question.
        numbers: The numbers of the images.

    Returns:
        The text.
    """
    places = ", ".join(f"Image{number}: {IMAGE_HERE}" for number in numbers)
    return f"{places}. {question}" if places else question


def without_places(question: str) -> str:
    """`question` as it was before `place_images`; one that has no places before it stays as it is."""
    return _PLACES.sub("", question)
