"""Which of two answers is better.

What belongs here: that choice, for every task that compares two answers. It follows from the texts
and pictures that a judge is given: never from a model's name, nor from which answer stands first,
so that the other order has the other letter. Equal texts are a tie. Two readers decide, each by
chance with the odds that follow from how well either answer agrees with what is right: where they
differ it is a tie. Part of the offline stand-in; no model is called. The odds are those of Bradley
and Terry (1952), a / (a + b).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from resources.offline.agreement import agreement, declines
from resources.offline.careful_answers import careful_answer
from resources.offline.image_facts import Facts
from resources.offline.seeded_choice import SeededChoice
from resources.offline.stated_facts import stated_facts

Better = Literal["first", "second", "tie"]
_FOCUS, _NOTHING_STATED = 0.2, 0.2


def better_answer(
    question: str,
    first: Sequence[str],
    second: Sequence[str],
    *,
    right: str = "",
    focus: str = "",
    pictures: dict[int, Facts] | None = None,
) -> Better:
    """Return which answer to a question is better; of several texts, those of one dialogue, the whole.

    `right` is a text that is right: a reference, or a caption; without one it is what `pictures` show.
    `focus` is what an answer is to have.
    """
    truth = right or (careful_answer(question, pictures, "expert") if pictures else "")
    levels = [_level(answers, truth, focus) for answers in (first, second)]
    if tuple(first) == tuple(second) or levels == [0.0, 0.0]:
        return "tie"
    if 0.0 in levels:
        return "second" if levels[0] == 0.0 else "first"
    # Drawn for the two in an order of their own, whichever stands first.
    swapped = tuple(first) > tuple(second)
    one, other = reversed(levels) if swapped else levels
    seeded = SeededChoice("better", question, *sorted((tuple(first), tuple(second))))
    votes = [seeded.chance(f"reader {number}", one / (one + other)) for number in range(2)]
    if votes[0] != votes[1]:
        return "tie"
    return "first" if votes[0] != swapped else "second"


def _level(answers: Sequence[str], truth: str, focus: str) -> float:
    """Return how good answers are, from 0 for what says nothing to 1."""
    return (
        sum(_of_one(answer, truth, focus) for answer in answers) / len(answers) if answers else 0.0
    )


def _of_one(answer: str, truth: str, focus: str) -> float:
    if declines(answer):
        return 0.0
    level = agreement(truth, answer) if truth else 0.5
    if stated_facts(truth, 1) and not stated_facts(answer, 1):
        # What both texts share are words that any text has.
        level *= _NOTHING_STATED
    if focus:
        level = (1 - _FOCUS) * level + _FOCUS * agreement(focus, answer)
    return max(level, 0.01)
