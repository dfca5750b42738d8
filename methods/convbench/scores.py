"""ConvBench's scores: win rates by turn and setting, their means and differences (ConvBench, 4.2).

    S1 S2 S3 SO     perception, reasoning, creation, whole conversation; over the model's own history
    S2^ S3^ SO^     the same with the reference of perception in place of the model's turn
    S3~ SO~         the same with the references of perception and reasoning
    R2 = (S1 + S2 + S3) / 3,  R1 = (R2 + SO) / 2

A win rate is over comparisons that were judged; the released scorer always divides by 577. The gain of
a setting is the error that the replaced turns account for.
"""

from collections.abc import Mapping, Sequence

from methods.evaluation.asking import PLAIN
from methods.evaluation.items import Item
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.composite import Composite, difference, weighted_mean
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.metrics.win_rate import WinRate

PERFECT_PERCEPTION = "perfect-perception"
"""The trial in which the reference replaces the model's first turn."""
PERFECT_REASONING = "perfect-reasoning"
"""The trial in which references replace the model's first two turns."""
N_GIVEN: Mapping[str, int] = {PLAIN: 0, PERFECT_PERCEPTION: 1, PERFECT_REASONING: 2}
"""The number of reference turns by trial; `plain` is the model's own history."""

N_TURNS = 3
PERCEPTION, REASONING, CREATION, OVERALL = "Perception", "Reasoning", "Creation", "Overall"
OF_TURN: Mapping[int, str] = {1: PERCEPTION, 2: REASONING, 3: CREATION}
"""The dimension in which each turn is compared."""
DIMENSIONS = (*OF_TURN.values(), OVERALL)
TASK_LABELS: Mapping[int, str] = {turn: name.lower() for turn, name in OF_TURN.items()}
"""The label of an item with the task category of each turn."""


def missing_reference(item: Item, trial: str) -> str | None:
    """Say why an item cannot be asked in a trial with reference turns.

    Args:
        item: The item.
        trial: The trial.

    Returns:
        One sentence; None if every reference turn has a reference.
    """
    without = [
        turn.turn for turn in item.turns if turn.turn <= N_GIVEN[trial] and turn.reference is None
    ]
    if not without:
        return None
    return f"Turn {without[0]} has no reference to give in the trial {trial}."


LOWEST_GRADE, HIGHEST_GRADE = 1, 10
WIN_RATES: dict[str, WinRate] = {
    name: WinRate(name=name, observation=dimension, trial=trial)
    for name, dimension, trial in (
        ("S1", PERCEPTION, PLAIN),
        ("S2", REASONING, PLAIN),
        ("S3", CREATION, PLAIN),
        ("SO", OVERALL, PLAIN),
        ("S2^", REASONING, PERFECT_PERCEPTION),
        ("S3^", CREATION, PERFECT_PERCEPTION),
        ("SO^", OVERALL, PERFECT_PERCEPTION),
        ("S3~", CREATION, PERFECT_REASONING),
        ("SO~", OVERALL, PERFECT_REASONING),
    )
}
"""The nine win rates by the paper's names."""
GAINS = (("S2^", "S2"), ("S3^", "S3"), ("SO^", "SO"), ("S3~", "S3^"), ("SO~", "SO^"))
"""Pairs of win rates whose difference is the error that the replaced turn accounts for."""
DIFFERENCES = tuple(
    difference(f"{more} - {less}", WIN_RATES[more], WIN_RATES[less]) for more, less in GAINS
)
"""Lower is better: a small difference means that the model's own turns cause few errors."""


def _mean(name: str, parts: Sequence[tuple[Metric, float]]) -> Composite:
    return weighted_mean(name, parts, lowest=0.0, highest=100.0)


TURNS = [(WIN_RATES[name], 1.0) for name in ("S1", "S2", "S3")]
R2 = _mean("R2", TURNS)
R1 = _mean("R1", [(R2, 1.0), (WIN_RATES["SO"], 1.0)])
METRICS: tuple[Metric, ...] = (R1, R2, *WIN_RATES.values(), *DIFFERENCES)
SINGLE_TURN_METRICS: tuple[Metric, ...] = (R2, *(metric for metric, _ in TURNS))
"""The metrics if each turn is asked by itself: there is no conversation and no setting."""


def grade_of(dimension: str) -> str:
    """The name of the observation of a direct grade."""
    return f"{dimension} grade"


GRADES: tuple[Metric, ...] = tuple(
    Mean(
        name=f"{name} grade",
        observation=grade_of(str(metric.observation)),
        trial=metric.trial,
        lowest=LOWEST_GRADE,
        highest=HIGHEST_GRADE,
    )
    for name, metric in WIN_RATES.items()
)
"""The metrics of direct grades of the same turns, from 1 to 10."""
