"""Clusters of tasks: their distances, and the scores of models on them (MMIU, Table 9, Figure 4 b).

score of a cluster = mean over its tasks, with equal weights, of the score on the task
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING

from methods.evaluation.findings import Finding, estimated
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.observations import label_column, models_in, of_models
from methods.evaluation.metrics.units import units_of, with_all_terms
from methods.evaluation.model_groups import ALL_MODELS, mean_of_models
from methods.evaluation.score_estimates import NO_MEAN, estimate
from methods.evaluation.scoring import floored

if TYPE_CHECKING:
    import pandas as pd

LABEL = "task cluster"
NO_DISTANCE = "A single task has no distance to another."


def cluster_findings(
    metric: Metric,
    observed: "pd.DataFrame",
    label: str,
    clusters: Mapping[str, int],
    distances: Mapping[tuple[str, str], float],
) -> Iterator[Finding]:
    """Compute mean distance and scores of each cluster; failures count as the lowest value.

    Args:
        metric: The metric of the scores: a mean over the values of `label`.
        observed: The observations of every candidate.
        label: The label whose values are the tasks.
        clusters: The cluster of each task that is on the map.
        distances: The distance of every two of these tasks; in a key, the tasks are in order of name.

    Yields:
        For each cluster the mean distance of its tasks, the mean of all models on the units that all of
        them have, and the score of each model.
    """
    import pandas as pd

    counted = floored(of_models(observed))
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
        of_tasks = counted[counted[label_column(label)].isin(tasks)]
        units = units_of({0: metric}, of_tasks, floor=True)
        units = with_all_terms(units, metric)
        of_all = mean_of_models(units, ALL_MODELS)
        means = estimate(pd.concat([of_all, units], ignore_index=True), {0: metric})
        for model in (ALL_MODELS, *models_in(units)) if len(units) else ():
            value, n_units = means.get((model,), NO_MEAN)
            of_model = replace(
                finding, measure="cluster_mean", subject=model, unit="unit", n=n_units
            )
            yield estimated(of_model, value, "No unit is of all models.")
