"""Composes a dialogue from the questions and answers of one image set (MMDU, 2.2 and B.2).

A question about one image calls it `<image-1>`; in the dialogue images are numbered in the order in
which they enter, so references are renumbered.
"""

import math
import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

from methods.ids import content_id
from methods.prompts.messages import IMAGE_HERE, IMAGE_NAME
from methods.prompts.parsing import ParseError

Weights = Mapping[int, int]
"""The weight of each number that may be sampled."""

T = TypeVar("T")


class MultiImageQuestions(NamedTuple):
    """Questions about the same images together: `positions` in the set, two at least."""

    positions: tuple[int, ...]
    n_questions: int


@dataclass(frozen=True)
class DialogueShape:
    """Questions on each image, in order of position, and on images together, as in the dialogue."""

    singles: tuple[int, ...]
    together: tuple[MultiImageQuestions, ...]

    @property
    def n_turns(self) -> int:
        """Turns of a dialogue that loses none of them."""
        return sum(self.singles) + sum(group.n_questions for group in self.together)


def seeded_integer(weights: Weights, *parts: object) -> int:
    """Sample a number by its weight, so that it depends on `parts` alone."""
    numbers = sorted(weights)
    ends = list(accumulate(weights[number] for number in numbers))
    return numbers[bisect(ends, int(content_id("number", *parts), 16) % ends[-1])]


def equal_weights(least: int, most: int) -> Weights:
    """The weights of the numbers from `least` to `most`, each as likely as the other."""
    return dict.fromkeys(range(least, most + 1), 1)


def shape_of(
    n_images: int,
    per_image: Weights,
    per_set: Weights,
    most_turns: int,
    most_together: int,
    seed: int,
    set_id: str,
) -> DialogueShape:
    """Decide how many questions of which kind a set gets.

    If they are more than `most_turns`, questions on single images are left out, by seed: a dialogue is
    about images together.

    Args:
        n_images: The number of images of the set, at least two.
        per_image: The numbers of questions on a single image.
        per_set: The numbers of questions on several images.
        most_turns: The most questions.
        most_together: The images of a set, at least three, up to which each question on several is on
            all of them. A larger set is asked about in groups of at most so many images, and at the end
            as a whole. Each group after the first has an image of an earlier one (MMDU, Figure 10).
        seed: The seed.
        set_id: The id of the set.

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
    groups = [tuple(places)]
    if n_images > most_together:
        groups = [*_groups(places, most_together, seed, set_id)[: n_together - 1], *groups]
    n_each, n_more = divmod(n_together, len(groups))
    return DialogueShape(
        tuple(singles.values()),
        tuple(
            MultiImageQuestions(positions, n_each + (group < n_more))
            for group, positions in enumerate(groups)
        ),
    )


def _groups(places: Sequence[int], most: int, seed: int, set_id: str) -> list[tuple[int, ...]]:
    """Groups of at most `most` places, each place new in one of them, with an earlier one in front."""
    first, *others = even_parts(places, most - 1)
    return [
        tuple(first),
        *(
            (seeded_integer(equal_weights(1, part[0] - 1), "earlier", seed, set_id, part[0]), *part)
            for part in others
        ),
    ]


def even_parts(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Divide items into the fewest parts of at most `most` items, of nearly equal size.

    Ten items in parts of at most four are parts of 4, 3 and 3.

    Args:
        items: The items in order, one at least.
        most: The most items of a part, one at least.

    Returns:
        The parts.
    """
    n_parts = math.ceil(len(items) / most)
    ends = [math.ceil(len(items) * part / n_parts) for part in range(n_parts + 1)]
    return [items[start:end] for start, end in pairwise(ends)]


FOLLOW_UP_EVERY, FOLLOWED_BEFORE = 3, 2


def followed_question(ordinal: int) -> int | None:
    """The question of the same call that a question on several images goes on from.

    Every third one refers to an earlier turn: the third to the first, the sixth to the fourth.

    Args:
        ordinal: The place of the question among those of its call, from 1.

    Returns:
        The place of the earlier question; None if the question stands by itself.
    """
    return None if ordinal % FOLLOW_UP_EVERY else ordinal - FOLLOWED_BEFORE


_REFERENCE = re.compile(IMAGE_NAME, re.IGNORECASE)
_PLACES = re.compile(rf"\A(?:Image\d+: {re.escape(IMAGE_HERE)}(?:, )?)+\. ")


@dataclass(frozen=True)
class QuestionAnswer:
    """One question with its answer, about the images at `positions` of the set, one or several.

    `<image-i>` is the i-th of them. `follows` is the id of the earlier question that the question goes
    on from.
    """

    question_id: str
    positions: tuple[int, ...]
    question: str
    answer: str
    follows: str | None = None


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
    """A composed dialogue.

    Attributes:
        positions: The set positions of its images, in the order in which they enter.
        lost: The questions that are not turns of it, with the reason of each.
    """

    turns: tuple[ComposedTurn, ...]
    positions: tuple[int, ...]
    lost: tuple[tuple[str, ParseError], ...] = ()


def compose(qas: Sequence[QuestionAnswer], n_images: int) -> ComposedDialogue:
    """Compose the dialogue of a set: single-image questions by image, then multi-image questions.

    An image enters at the first turn that needs it: a single-image question adds its image, a
    multi-image question all of its images that have not entered yet. So every image of a question on
    all of them enters, even if its own questions were lost. Where multi-image questions are on groups
    of images of the set (MMDU, Figure 10), groups come in order of their last image, and before them
    the single-image questions on the images up to it. Images are numbered from 1 in the order in which
    they enter.

    A question is left out if it or its answer refers to a missing image, or contains `<ImageHere>`,
    which would add an image that does not exist, or if it goes on from a question that is left out.

    Args:
        qas: The questions with their answers.
        n_images: The number of images of the set.

    Returns:
        The dialogue, and the questions that are left out.

    Raises:
        ParseError: Fewer than two images enter, or no multi-image question is left.
    """
    ends = sorted({n_images, *(max(qa.positions) for qa in qas if len(qa.positions) > 1)})

    def place(qa: QuestionAnswer) -> tuple[int, int, int]:
        last = max(qa.positions)
        if len(qa.positions) > 1:
            return last, len(qa.positions), 0
        return next(end for end in ends if end >= last), 1, last

    number_of: dict[int, int] = {}
    turns: list[ComposedTurn] = []
    lost: list[tuple[str, ParseError]] = []
    n_multis = 0
    for qa in sorted(qas, key=place):
        new = [position for position in qa.positions if position not in number_of]
        numbered = {position: number for number, position in enumerate(new, len(number_of) + 1)}
        try:
            if qa.follows and qa.follows not in {turn.question_id for turn in turns}:
                raise ParseError(
                    "lost_earlier_turn", f"It goes on from {qa.follows}, which is no turn."
                )
            turns.append(_turn(qa, number_of | numbered, list(numbered.values())))
        except ParseError as error:
            lost.append((qa.question_id, error))
        else:
            number_of |= numbered
            n_multis += len(qa.positions) > 1
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
    numbers = {i: number_of[position] for i, position in enumerate(qa.positions, start=1)}
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
    """Undo `place_images`; a question without image places does not change."""
    return _PLACES.sub("", question)
