"""The three settings of ConvBench, and what is judged in each (ConvBench, 4.1).

What belongs here: names that others refer to: trials, turns, dimensions, labels, and how many turns
each setting gives. Asking, judging and scoring by them are modules beside this one.
"""

from collections.abc import Mapping

from methods.evaluation.asking import PLAIN
from methods.evaluation.items import Item

PERFECT_PERCEPTION = "perfect-perception"
"""The trial whose first turn is given: its reference stands in the model's place."""
PERFECT_REASONING = "perfect-reasoning"
"""The trial whose first two turns are given."""
N_GIVEN: Mapping[str, int] = {PLAIN: 0, PERFECT_PERCEPTION: 1, PERFECT_REASONING: 2}
"""Turns that are given, by trial; `plain` is the model's own history."""

N_TURNS = 3
PERCEPTION, REASONING, CREATION, OVERALL = "Perception", "Reasoning", "Creation", "Overall"
OF_TURN: Mapping[int, str] = {1: PERCEPTION, 2: REASONING, 3: CREATION}
"""What a turn is compared for."""
DIMENSIONS = (*OF_TURN.values(), OVERALL)
TASK_LABELS: Mapping[int, str] = {turn: name.lower() for turn, name in OF_TURN.items()}
"""The label of an item that names the task category of each turn."""


def lacking(item: Item, trial: str) -> str | None:
    """Why the item cannot be asked in the trial, which gives a turn without a reference; else None."""
    without = [
        turn.turn for turn in item.turns if turn.turn <= N_GIVEN[trial] and turn.reference is None
    ]
    if not without:
        return None
    return f"Turn {without[0]} has no reference to give in the trial {trial}."
