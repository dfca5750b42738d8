"""Ranking of tasks by difficulty: by the mean score of models (MMIU, 4.3.3)."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple


class TaskRank(NamedTuple):
    """A task, its mean score over `n_models`, and its rank; the lowest score has rank 1."""

    task: str
    place: int
    mean_score: float
    n_models: int


def task_ranking(
    scores: Mapping[str, Mapping[str, float]], models: Sequence[str]
) -> list[TaskRank]:
    """Rank tasks by their mean score, the hardest first, equal ones by name.

    Args:
        scores: The scores by task and model.
        models: The models that count; a task that none of them has is ranked by all models with a
            score.

    Returns:
        The tasks in order.
    """
    means = {}
    for task, by_model in scores.items():
        values = [by_model[model] for model in models if model in by_model] or list(
            by_model.values()
        )
        # Rounding makes means equal that differ only in their last digits.
        means[task] = round(fmean(values), 9), len(values)
    return [
        TaskRank(task, 1 + sum(other < mean for other, _ in means.values()), mean, n_models)
        for task, (mean, n_models) in sorted(means.items(), key=lambda item: (item[1][0], item[0]))
    ]
