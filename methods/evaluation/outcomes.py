"""Right and wrong items by model: the input of filters, item analysis and subsets.

An item is right by the ranking metric: in MMBench under CircularEval, if all passes are right.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from methods.evaluation.asking import OWN_DOING
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.observations import models_in
from methods.evaluation.statistics.bootstrap import Floats

if TYPE_CHECKING:
    import pandas as pd

Outcomes = Mapping[str, Mapping[str, bool | None]]
"""Whether an item is right, by model and item; None if this is not known."""


def is_right_or_wrong(benchmark: Benchmark) -> bool:
    """Whether the benchmark scores answers by rule as right (1) or wrong (0), and ranks by them.

    Verdicts of a judge may be ties, so they are not right or wrong.
    """
    by_rule = not benchmark.judge_prompts
    return by_rule and tuple(benchmark.score_range) == (0, 1) and bool(benchmark.metrics)


def outcomes_of(metric: Metric, observed: "pd.DataFrame") -> Outcomes:
    """Reduce the observations of each candidate to one outcome for each item.

    A refusal, and a reply without an answer, are the model's own doing and wrong. An answer that failed
    otherwise is unknown, unless another pass of the item decides it.

    Args:
        metric: The metric that ranks.
        observed: The observations of every candidate.

    Returns:
        By candidate and item: True for right, False for wrong, None for unknown.
    """
    is_own_doing = observed["value"].isna() & observed["status"].isin(OWN_DOING)
    counted = observed.assign(value=observed["value"].mask(is_own_doing, 0.0))
    units = metric.units(counted, floor=False)
    units["wrong"] = units["value"].notna() & (units["value"] != metric.highest)
    units["unknown"] = units["value"].isna()
    # Right if every part is, wrong as soon as one is.
    items = units.groupby(["model", "unit"], sort=False)[["wrong", "unknown"]].any()
    outcomes: dict[str, dict[str, bool | None]] = {model: {} for model in models_in(observed)}
    for (model, item), wrong, unknown in items.itertuples(name=None):
        outcomes[model][item] = False if wrong else None if unknown else True
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
