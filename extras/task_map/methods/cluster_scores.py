"""Clusters of tasks: their distances, and the scores of models on them (MMIU, Table 9, Figure 4 b).

score of a cluster = mean over its tasks, with equal weights, of the score on the task
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean

import numpy as np

from methods.evaluation.candidates import is_model
from methods.evaluation.columns import estimate
from methods.evaluation.findings import Finding, estimated
from methods.evaluation.metrics import Metric, ScoredObservation
from methods.evaluation.metrics.observations import Observations, with_names_in_common
from methods.evaluation.model_groups import ALL_MODELS, mean_of_models
from methods.evaluation.scoring import floored, terms_of

LABEL = "task cluster"
NO_DISTANCE = "A single task has no distance to another."


def cluster_findings(
    metric: Metric,
    observed: Mapping[str, Sequence[ScoredObservation]],
    label: str,
    clusters: Mapping[str, int],
    distances: Mapping[tuple[str, str], float],
) -> Iterator[Finding]:
    """Compute mean distance and scores of each cluster; failures count as the lowest value.

    Args:
        metric: The metric of the scores: a mean over the values of `label`.
        observed: The observations of each candidate.
        label: The label whose values are the tasks.
        clusters: The cluster of each task that is on the map.
        distances: The distance of every two of these tasks; in a key, the tasks are in order of name.

    Yields:
        For each cluster the mean distance of its tasks, the mean of all models on the units that all of
        them have, and the score of each model.
    """
    columns = with_names_in_common(
        {name: scored for name, scored in observed.items() if is_model(name)}
    )
    for cluster in sorted(set(clusters.values())):
        tasks = sorted(task for task, number in clusters.items() if number == cluster)
        within = [distances[pair] for pair in combinations(tasks, 2)]
        finding = Finding(
            metric=metric.name,
            aggregation=metric.aggregation,
            subset_label=LABEL,
            subset_value=f"{cluster}: {', '.join(tasks)}",
        )
        yield replace(
            finding,
            measure="cluster_distance",
            unit="pair of tasks",
            n=len(within),
            value=fmean(within) if within else None,
            reason=None if within else NO_DISTANCE,
        )
        terms = {
            model: terms_of(metric, _of_tasks(floored(scored_answers), label, tasks), "floor")
            for model, scored_answers in columns.items()
        }
        scored = {model: units for model, units in terms.items() if len(units)}
        if scored:
            scored = {ALL_MODELS: mean_of_models(list(scored.values())), **scored}
        estimates = estimate(list(scored.values()), [metric.ends] * len(scored))
        for (model, units), value in zip(scored.items(), estimates, strict=True):
            of_model = replace(
                finding, measure="cluster_mean", subject=model, unit="unit", n=len(units)
            )
            yield estimated(of_model, value, "No unit is of all models.")


def _of_tasks(observations: Observations, label: str, tasks: Sequence[str]) -> Observations:
    """Select the observations of items of these tasks."""
    numbers = [
        n for n, labels in enumerate(observations.names.labels) if labels.get(label) in tasks
    ]
    return observations.take(np.isin(observations.column("labels"), numbers))
