"""Composes a multi-turn dialogue from questions and answers on one image set (MMDU, 2.2 and B.2).

A question about one image calls it `<image-1>`. In the dialogue, images are numbered in the order in
which they are shown first, so the image tokens are renumbered.
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
"""The relative weight of each number that may be sampled."""

T = TypeVar("T")


class MultiImageQuestions(NamedTuple):
    """Questions about the same group of images: at least two `positions` in the set, from 1."""

    positions: tuple[int, ...]
    n_questions: int


@dataclass(frozen=True)
class DialogueShape:
    """The number of questions on each single image, in order of position, and on groups of images."""

    singles: tuple[int, ...]
    together: tuple[MultiImageQuestions, ...]

    @property
    def n_turns(self) -> int:
        """The number of turns of the dialogue if no question is left out."""
        return sum(self.singles) + sum(group.n_questions for group in self.together)


def seeded_integer(weights: Weights, *parts: object) -> int:
    """Sample a number by weight. The hash of `parts` is the only source of randomness."""
    numbers = sorted(weights)
    ends = list(accumulate(weights[number] for number in numbers))
    return numbers[bisect(ends, int(content_id("number", *parts), 16) % ends[-1])]


def equal_weights(least: int, most: int) -> Weights:
    """Return equal weights for the numbers from `least` to `most`, both included."""
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
    """Sample the number of questions on each image, and on each group of images, of one set.

    If there are more than `most_turns`, questions on single images are left out, one by one from the
    image that has the most.

    Args:
        n_images: The number of images of the set, at least two.
        per_image: Weights of the number of questions on a single image.
        per_set: Weights of the number of questions on several images.
        most_turns: The largest number of questions.
        most_together: The largest number of images, at least three, of a group. A set of up to this
            size is one group: each question on several images is on all of them. A larger set is also
            divided into groups of at most this size, before the questions on the whole set. Each group
            after the first includes an image of an earlier group (MMDU, Figure 10).
        seed: The seed.
        set_id: The id of the set.
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
    """Divide places into groups of at most `most`. Each group but the first also has an earlier place,
    in front.
    """
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
    """
    n_parts = math.ceil(len(items) / most)
    ends = [math.ceil(len(items) * part / n_parts) for part in range(n_parts + 1)]
    return [items[start:end] for start, end in pairwise(ends)]


FOLLOW_UP_EVERY, FOLLOWED_BEFORE = 3, 2


def followed_question(ordinal: int) -> int | None:
    """Return the earlier question that a follow-up question on several images refers to.

    Every third question of a model call is a follow-up: the third to the first, the sixth to the
    fourth.
    """
    return None if ordinal % FOLLOW_UP_EVERY else ordinal - FOLLOWED_BEFORE


_REFERENCE = re.compile(IMAGE_NAME, re.IGNORECASE)
_PLACES = re.compile(rf"\A(?:Image\d+: {re.escape(IMAGE_HERE)}(?:, )?)+\. ")


@dataclass(frozen=True)
class QuestionAnswer:
    """A question and its answer about one or several images, those at `positions` of the set.

    `<image-i>` in its texts is the i-th of these images. If it is a follow-up question, `follows` is
    the id of the earlier question.
    """

    question_id: str
    positions: tuple[int, ...]
    question: str
    answer: str
    follows: str | None = None


@dataclass(frozen=True)
class ComposedTurn:
    """A turn of a dialogue. `image_positions` are the numbers of the images first shown in it."""

    question_id: str
    question: str
    answer: str
    image_positions: tuple[int, ...]


def renumber(text: str, numbers: Mapping[int, int]) -> str:
    """Renumber the image tokens of a text.

    Args:
        text: The text with `<image-i>` tokens.
        numbers: The new number of each i.

    Raises:
        ParseError: `unknown_image`: a token refers to an image that is not in `numbers`.
    """

    def replaced(match: re.Match[str]) -> str:
        # Nine digits suffice to recognize an unknown image; int() fails for thousands of digits.
        i = int(match.group(1)[:9])
        if i not in numbers:
            raise ParseError("unknown_image", f"<image-{i}> is not one of {sorted(numbers)}.")
        return f"<image-{numbers[i]}>"

    return _REFERENCE.sub(replaced, text)


@dataclass(frozen=True)
class ComposedDialogue:
    """A composed dialogue.

    Attributes:
        turns: The turns in order.
        positions: The positions in the set of its images, in the order in which they are first shown.
        lost: The ids of questions that were left out, each with the reason.
    """

    turns: tuple[ComposedTurn, ...]
    positions: tuple[int, ...]
    lost: tuple[tuple[str, ParseError], ...] = ()


def compose(qas: Sequence[QuestionAnswer], n_images: int) -> ComposedDialogue:
    """Compose the dialogue of a set: first the single-image questions by image, then the multi-image
    questions.

    If multi-image questions are on groups of images (MMDU, Figure 10), the groups are in the order of
    their last image; before each group are the single-image questions on the images up to its last.
    An image is first shown in the first turn that needs it, so a multi-image question shows all its
    images that were not shown before. Images are numbered from 1 in this order.

    A question is left out if it or its answer refers to a missing image or contains `<ImageHere>`,
    which would add an image that does not exist, or if it follows up a question that is left out.

    Args:
        qas: The questions with their answers.
        n_images: The number of images of the set.

    Returns:
        The dialogue, and the questions that are left out.

    Raises:
        ParseError: Fewer than two images are shown, or no multi-image question is left.
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
    """The turn of a question that first shows the images numbered `places`. Raises ParseError."""
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
    """Put a labelled `<ImageHere>` before a question for each image that is first shown in it.

    Args:
        question: The question.
        numbers: The numbers of the images.
    """
    places = ", ".join(f"Image{number}: {IMAGE_HERE}" for number in numbers)
    return f"{places}. {question}" if places else question


def without_places(question: str) -> str:
    """Undo `place_images`. A question without image places is returned unchanged."""
    return _PLACES.sub("", question)
