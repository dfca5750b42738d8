"""Groups of models, such as open and proprietary ones: their means, best models and differences.

    value of a group on a unit = mean of the values of its models on the unit

over the units that all its models have; failures count as the lowest value (MMBench, 5.3: Figure 9
compares groups, Figure 10 has the best accuracy of all models by ability). Intervals are over clusters
of units, for fixed models. The interval of the best model ignores that it was selected.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from methods.evaluation.candidates import is_model
from methods.evaluation.findings import Finding, difference, estimated
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.observations import models_in
from methods.evaluation.metrics.units import KEY, in_common, matrices, with_all_terms
from methods.evaluation.ranking import Compared, compared_rows
from methods.evaluation.score_estimates import NO_MEAN, estimate
from methods.evaluation.scoring import split_labels, units_by_value
from methods.evaluation.statistics.comparisons import Comparison, holm

if TYPE_CHECKING:
    import pandas as pd

ALL_MODELS = ""
"""The subject of findings on all models."""
Fields = Mapping[str, Mapping[str, str]]
"""Value of each model by field, such as `access` -> model -> `open`."""


def group_findings(
    metrics: Sequence[Metric],
    observed: "pd.DataFrame",
    fields: Fields,
    labels: Sequence[str],
) -> Iterator[Finding]:
    """Compute means, best models and differences of groups, over all items and by label.

    Args:
        metrics: The metrics of the benchmark; the first one with a micro mean is used.
        observed: The observations of every candidate.
        fields: The fields that define groups; a model without a value is in no group of the field.
        labels: The labels that scores are split by.

    Yields:
        The findings of all models, then of each group (`access: open`), by subset; p is adjusted by
        Holm over the pairs and values of a label.
    """
    metric = next((metric for metric in metrics if metric.aggregation == "micro"), None)
    models = list(filter(is_model, models_in(observed)))
    if metric is None or len(models) < 2:
        return
    observed = observed[observed["model"].isin(models)]
    groups = {ALL_MODELS: models, **dict(_groups(models, fields))}
    splits = split_labels(observed)
    for label in ("", *(label for label in labels if label in splits)):
        of_label = []
        for value, units in units_by_value(metric, observed, label):
            finding = Finding(
                metric=metric.name,
                aggregation=metric.aggregation,
                subset_label=label,
                subset_value=value,
                unit="unit",
            )
            units = with_all_terms(units, metric)
            means: dict[str, pd.DataFrame] = {}
            for group, members in groups.items():
                scored = units[units["model"].isin(members)]
                if len(scored):
                    means[group] = mean_of_models(scored, group)
                    about = replace(finding, subject=group)
                    yield from _of_group(metric, about, means[group], scored)
            of_label += [
                (replace(finding, subject=first, other=second), pair)
                for first, second in combinations(groups, 2)
                if first in means and second in means and _field(first) == _field(second)
                for pair, _ in _compared_means(metric, means, (first, second))
            ]
        yield from _differences(of_label)


def mean_of_models(units: "pd.DataFrame", name: str) -> "pd.DataFrame":
    """Average several models on each unit that all of them have, term by term.

    Args:
        units: Units of these models with a value.
        name: What the units have as their model.

    Returns:
        The means as units.
    """
    return (
        in_common(units)
        .groupby(KEY, as_index=False)
        .agg({"cluster": "first", "value": "mean", "stratum": "first"})
        .assign(model=name)
    )


def _groups(models: Sequence[str], fields: Fields) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the models of each group; a field with one value makes no groups."""
    for field, value_of in fields.items():
        values = sorted({value_of[model] for model in models if model in value_of})
        if len(values) > 1:
            for value in values:
                yield f"{field}: {value}", [m for m in models if value_of.get(m) == value]


def _field(group: str) -> str:
    return group.partition(":")[0]


def _of_group(
    metric: Metric, finding: Finding, mean: "pd.DataFrame", scored: "pd.DataFrame"
) -> Iterator[Finding]:
    """Yield the mean of the models of a group, and each model that has the best score."""
    import pandas as pd

    units = pd.concat([mean, scored], ignore_index=True)
    means = {name: score for (name,), score in estimate(units, {0: metric}).items()}
    of_mean = means.pop(finding.subject, NO_MEAN)
    about_mean = replace(finding, measure="mean", n=of_mean.n_units)
    yield estimated(about_mean, of_mean.estimate, "No unit is of all models.")
    sign = 1 if metric.higher_is_better else -1
    values = {model: sign * (score.estimate.value or 0.0) for model, score in means.items()}
    for model, (score, n_units) in sorted(means.items()):
        if np.isclose(values[model], max(values.values())):
            yield estimated(replace(finding, measure="best", other=model, n=n_units), score)


def _compared_means(
    metric: Metric, means: Mapping[str, "pd.DataFrame"], pair: tuple[str, str]
) -> Compared:
    import pandas as pd

    units = pd.concat([means[name] for name in pair])
    return compared_rows(matrices(units, pair, len(metric.weights)), metric)


def _differences(pairs: Sequence[tuple[Finding, Comparison]]) -> Iterator[Finding]:
    adjusted = holm([pair.p_value for _, pair in pairs])
    for (finding, pair), p in zip(pairs, adjusted, strict=True):
        yield difference(finding, pair, p, pair.reason)
