"""Task profiles: distances between tasks by the correlation of models' scores, without weights.

A task's profile is the score of each model on it. Two tasks are at the correlation distance of their
profiles, over models m:

    d(s, t) = 1 - r(s, t),   r: Pearson's correlation of (score of m on s) and (score of m on t)

The distance is 0 if the models' scores rise and fall together, 1 if they are not correlated, 2 if one
is the reverse of the other. It measures how alike tasks are for these models, not for a learner: models
that are good at everything make all tasks alike, and few models make chance correlations.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from extras.task_map.methods.clustering import MIN_TASKS, Floats

MIN_MODELS = 3
"""Two models are too few: any two of their profiles have the correlation 1 or -1."""
FEW_MODELS = 10
"""With fewer models, a correlation of 0.6 and more is often chance (p > 0.05)."""
SAME = "All models have the same score on it, so it has no profile to compare."


@dataclass(frozen=True)
class TaskProfiles:
    """Scores, shape (tasks, models), with the tasks and models that are left out and why.

    `why_no_map` says why no map can be made; None if one can.
    """

    tasks: tuple[str, ...]
    models: tuple[str, ...]
    scores: Floats
    other_tasks: Mapping[str, str] = field(default_factory=dict)
    other_models: Mapping[str, str] = field(default_factory=dict)

    @property
    def why_no_map(self) -> str | None:
        """The reason, too few models or too few tasks; None if a map can be made."""
        if len(self.models) < MIN_MODELS:
            return (
                f"A task map needs {MIN_MODELS} models with a score on every task, and there "
                f"{_are(len(self.models))}."
            )
        if len(self.tasks) < MIN_TASKS:
            return (
                f"A task map needs {MIN_TASKS} tasks that models differ on, and there "
                f"{_are(len(self.tasks))}."
            )
        return None


def profiles(scores: Mapping[str, Mapping[str, float]]) -> TaskProfiles:
    """Build profiles from scores by task and model, in the order of names.

    A model without a score on some task is left out, as its profile would have a gap. A task on which
    all models have the same score is left out, too, as it correlates with nothing.
    """
    names = sorted({model for by_model in scores.values() for model in by_model})
    gaps = {
        model: next(task for task, by_model in sorted(scores.items()) if model not in by_model)
        for model in names
        if any(model not in by_model for by_model in scores.values())
    }
    models = tuple(model for model in names if model not in gaps)
    flat = {
        task for task, by_model in scores.items() if len({by_model[model] for model in models}) < 2
    }
    tasks = tuple(sorted(scores.keys() - flat))
    return TaskProfiles(
        tasks,
        models,
        np.array([[scores[task][model] for model in models] for task in tasks], dtype=float),
        dict.fromkeys(sorted(flat), SAME),
        {model: f"It has no score on {task}." for model, task in gaps.items()},
    )


def correlation_distances(profiles: TaskProfiles) -> Floats:
    """Compute the distances of every two tasks, n x n, 0 to 2. `profiles.why_no_map` must be None."""
    # Rounding makes distances equal that differ only in their last digits.
    distances = np.round(np.clip(1 - np.corrcoef(profiles.scores), 0, 2), 12).astype(np.float64)
    np.fill_diagonal(distances, 0)
    return distances


def _are(n: int) -> str:
    return "is 1" if n == 1 else f"are {n}"
