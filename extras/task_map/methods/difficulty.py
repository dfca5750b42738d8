"""Learning difficulty of tasks: model scores compared with accuracy after fine-tuning (MMIU, 4.3.3).

Each task has two accuracies: that of one model after fine-tuning on the task, and the mean of models
without fine-tuning. The paper correlates them (Spearman, 0.66 over its 52 tasks) and looks at the tasks
where both are low: more data of that kind may not help. The interval is from a bootstrap over tasks. p
is from a permutation test of no relation: over all orders for up to 7 tasks, else over sampled ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from extras.task_map.methods.clustering import MIN_TASKS
from methods.agreement.rating_matrix import interval
from methods.agreement.scores import spearman
from methods.errors import UserError
from methods.evaluation.statistics.estimates import Estimate

N_RESAMPLES = 9_999
SEED = 0


class TooFewAccuraciesError(UserError):
    """Too few tasks have both accuracies."""


@dataclass(frozen=True)
class Difficulty:
    """Spearman's rho over `n` tasks with both accuracies; `reason` says why there is no value.

    `hard` are the tasks that are below the median of both. `only_fine_tuned` and `only_asked` have one
    accuracy and are left out.
    """

    rho: Estimate
    p: float | None
    reason: str | None
    n: int
    hard: tuple[str, ...]
    only_fine_tuned: tuple[str, ...]
    only_asked: tuple[str, ...]


def learning_difficulty(
    fine_tuned: Mapping[str, float],
    zero_shot: Mapping[str, float],
    n_resamples: int = N_RESAMPLES,
) -> Difficulty:
    """Relate accuracies after fine-tuning to those of models without fine-tuning, by task.

    Both may be on any scale: only the orders matter.

    Args:
        fine_tuned: The accuracy after fine-tuning, by task.
        zero_shot: The mean score of models without fine-tuning, by task.
        n_resamples: The number of bootstrap draws.

    Raises:
        TooFewAccuraciesError: There are fewer than three common tasks.
    """
    tasks = sorted(fine_tuned.keys() & zero_shot.keys())
    if len(tasks) < MIN_TASKS:
        raise TooFewAccuraciesError(
            f"Learning difficulty needs {MIN_TASKS} tasks with both accuracies, and there are "
            f"{len(tasks)}: name tasks as the release does ({', '.join(sorted(zero_shot)[:5])} ...)."
        )
    both = np.array([[fine_tuned[task], zero_shot[task]] for task in tasks], dtype=float)
    measured = spearman(both)
    bounds = interval(spearman, both, tasks, seed=SEED, n_resamples=min(n_resamples, 1_000))
    medians = [median(column) for column in both.T]
    return Difficulty(
        Estimate(measured.value, *(bounds or (None, None))),
        None if measured.value is None else _p_value(both, n_resamples),
        measured.reason,
        len(tasks),
        tuple(
            task
            for task, accuracies in zip(tasks, both, strict=True)
            if (accuracies < medians).all()
        ),
        tuple(sorted(fine_tuned.keys() - zero_shot.keys())),
        tuple(sorted(zero_shot.keys() - fine_tuned.keys())),
    )


def _p_value(both: Any, n_resamples: int) -> float:
    """Compute the two-sided p of rho by permutation."""
    from scipy.stats import permutation_test, rankdata

    first, second = rankdata(both, axis=0).T
    centred = second - second.mean()
    # For permuted ranks rho is this product divided by a constant.
    test = permutation_test(
        (first,),
        lambda ranks, axis: (ranks * centred).sum(axis=axis),
        permutation_type="pairings",
        n_resamples=n_resamples,
        vectorized=True,
        rng=np.random.default_rng(SEED),
    )
    return float(test.pvalue)
