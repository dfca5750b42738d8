"""Dialogues without the pairs that the checks drop.

What belongs here: taking turns out of a dialogue so that the rest stays whole. Which pairs are dropped
is `outcome.py`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from methods.mmdu.composing import place_images
from methods.prompts.messages import IMAGE_NAME
from methods.release import image_positions

Turn = Mapping[str, Any]
_REFERENCE = re.compile(IMAGE_NAME)
FEWEST_IMAGES = 2


class Rest(NamedTuple):
    """What is left of a dialogue: its turns, its images, and by question id what now stands before a
    question, so that images enter that entered with a turn that is gone."""

    turns: list[Turn]
    image_ids: list[str]
    entering: dict[str, str]


def without_turns(
    turns: Sequence[Turn], image_ids: Sequence[str], dropped: Collection[int]
) -> Rest | None:
    """The dialogue without the turns at these places (from 0); None if too little is left of it.

    Images that entered with such a turn enter with the next one that stays, so that no image has
    another number; the last ones, which no turn is left for, go. Too little is fewer than two images,
    or no turn that names two of them: a dialogue is about images together.
    """
    kept: list[Turn] = []
    entering: dict[str, str] = {}
    waiting: list[int] = []
    positions = image_positions([turn["question"] for turn in turns])
    for place, (turn, new) in enumerate(zip(turns, positions, strict=True)):
        if place in dropped:
            waiting += new
            continue
        if waiting:
            question = place_images(turn["question"], waiting)
            entering[turn.get("question_id", "")] = question.removesuffix(turn["question"])
            turn, waiting = {**turn, "question": question}, []
        kept.append(turn)
    shown = list(image_ids[: len(image_ids) - len(waiting)])
    together = any(
        len(set(_REFERENCE.findall(turn["question"] + turn["answer"]))) > 1 for turn in kept
    )
    return Rest(kept, shown, entering) if together and len(shown) >= FEWEST_IMAGES else None
