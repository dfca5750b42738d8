"""Right and wrong items by model: the input of filters, item analysis and subsets.

An item is right by the ranking metric: in MMBench under CircularEval, if all passes are right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from methods.evaluation.asking import OWN_DOING
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.metrics import Metric, ScoredObservation
from methods.evaluation.statistics.bootstrap import Floats

Outcomes = Mapping[str, Mapping[str, bool | None]]
"""Whether an item is right, by model and item; None if this is not known."""


def is_right_or_wrong(benchmark: Benchmark) -> bool:
    """Whether the benchmark scores answers by rule as right (1) or wrong (0), and ranks by them.

    Verdicts of a judge may be ties, so they are not right or wrong.
    """
    by_rule = not benchmark.judge_prompts
    return by_rule and tuple(benchmark.score_range) == (0, 1) and bool(benchmark.metrics)


def outcomes_of(metric: Metric, observed: Mapping[str, Sequence[ScoredObservation]]) -> Outcomes:
    """Reduce the observations of each candidate to one outcome for each item.

    A refusal, and a reply without an answer, are the model's own doing and wrong. An answer that failed
    otherwise is unknown, unless another pass of the item decides it.

    Args:
        metric: The metric that ranks.
        observed: The observations of each candidate.

    Returns:
        By candidate and item: True for right, False for wrong, None for unknown.
    """
    outcomes: dict[str, dict[str, bool | None]] = {}
    for model, scored in observed.items():
        counted = [
            replace(score, value=0.0)
            if score.value is None and score.status in OWN_DOING
            else score
            for score in scored
        ]
        parts: dict[str, list[bool | None]] = {}
        for unit in metric.units(counted, floor=False):
            right = None if unit.value is None else unit.value == metric.highest
            parts.setdefault(str(unit.key[0]), []).append(right)
        outcomes[model] = {item: _together(part) for item, part in parts.items()}
    return outcomes


def items_in(outcomes: Outcomes) -> list[str]:
    """Every item that a candidate was observed on, in order of name."""
    return sorted({item for of_model in outcomes.values() for item in of_model})


def right_matrix(outcomes: Outcomes, models: Sequence[str], items: Sequence[str]) -> Floats:
    """Put outcomes into a matrix.

    Args:
        outcomes: The outcomes by model and item.
        models: The models of the rows.
        items: The items of the columns.

    Returns:
        Models x items: 1 right, 0 wrong, NaN unknown.
    """
    number_of = {True: 1.0, False: 0.0, None: np.nan}
    return np.array(
        [[number_of[outcomes[model].get(item)] for item in items] for model in models], dtype=float
    ).reshape(len(models), len(items))


def _together(parts: Sequence[bool | None]) -> bool | None:
    """Right if every part is right, wrong if a part is wrong, otherwise unknown."""
    return False if False in parts else None if None in parts else True
