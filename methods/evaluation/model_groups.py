"""Groups of models, such as open and proprietary ones: their means, best models and differences.

    value of a group on a unit = mean of the values of its models on the unit

over the units that all its models have; failures count as the lowest value (MMBench, 5.3: Figure 9
compares groups, Figure 10 has the best accuracy of all models by ability). Intervals are over clusters
of units, for fixed models. The interval of the best model ignores that it was selected.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from methods.evaluation.candidates import is_model
from methods.evaluation.columns import estimate
from methods.evaluation.findings import Finding, difference, estimated
from methods.evaluation.metrics import Metric, ScoredObservation
from methods.evaluation.metrics.observations import Observations, with_names_in_common
from methods.evaluation.metrics.terms import WeightedTerms, by_term
from methods.evaluation.metrics.units import aligned
from methods.evaluation.ranking import compared_columns
from methods.evaluation.scoring import ALL, by_subset, floored, terms_of
from methods.evaluation.slices import subsets
from methods.evaluation.statistics.comparisons import Comparison, holm

ALL_MODELS = ""
"""The subject of findings on all models."""
Fields = Mapping[str, Mapping[str, str]]
"""Value of each model by field, such as `access` -> model -> `open`."""


def group_findings(
    metrics: Sequence[Metric],
    observed: Mapping[str, Sequence[ScoredObservation]],
    fields: Fields,
    labels: Sequence[str],
) -> Iterator[Finding]:
    """Compute means, best models and differences of groups, over all items and by label.

    Args:
        metrics: The metrics of the benchmark; the first one with a micro mean is used.
        observed: The observations of each candidate.
        fields: The fields that define groups; a model without a value is in no group of the field.
        labels: The labels that scores are split by.

    Yields:
        The findings of all models, then of each group (`access: open`), by subset; p is adjusted by
        Holm over the pairs and values of a label.
    """
    metric = next((metric for metric in metrics if metric.aggregation == "micro"), None)
    models = sorted(filter(is_model, observed))
    if metric is None or len(models) < 2:
        return
    columns = with_names_in_common({model: observed[model] for model in models})
    split = set(subsets([labels for of in columns.values() for labels in of.label_sets]))
    counting = {model: floored(of) for model, of in columns.items()}
    parts = {model: {ALL: of, **by_subset(of, split)} for model, of in counting.items()}
    groups = dict(_groups(models, fields))
    for label in (ALL[0], *labels):
        of_label = []
        for subset in sorted(subset for subset in {ALL, *split} if subset[0] == label):
            terms = {model: _terms(metric, parts[model].get(subset)) for model in models}
            finding = Finding(
                metric=metric.name,
                aggregation=metric.aggregation,
                subset_label=subset[0],
                subset_value=subset[1],
                unit="unit",
            )
            means: dict[str, WeightedTerms] = {}
            for group, members in {ALL_MODELS: models, **groups}.items():
                scored = {model: terms[model] for model in members if len(terms[model])}
                if scored:
                    mean = means[group] = mean_of_models(list(scored.values()))
                    yield from _of_group(metric, replace(finding, subject=group), mean, scored)
            of_label += [
                (replace(finding, subject=first, other=second), pair)
                for first, second in combinations(groups, 2)
                if first in means and second in means and _field(first) == _field(second)
                for pair, _ in compared_columns([means[first], means[second]], metric.span)
            ]
        yield from _differences(of_label)


def mean_of_models(columns: Sequence[WeightedTerms]) -> WeightedTerms:
    """Average several models on each unit that all of them have, term by term."""
    averaged = []
    for of_term in by_term(columns):
        units = aligned(of_term)
        values = np.mean([each.values for each in units], axis=0)
        averaged.append(replace(units[0], values=values))
    return WeightedTerms(columns[0].weights, averaged)


def _groups(models: Sequence[str], fields: Fields) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the models of each group; a field with one value makes no groups."""
    for field, value_of in fields.items():
        values = sorted({value_of[model] for model in models if model in value_of})
        if len(values) > 1:
            for value in values:
                yield f"{field}: {value}", [m for m in models if value_of.get(m) == value]


def _field(group: str) -> str:
    return group.partition(":")[0]


def _terms(metric: Metric, part: Observations | None) -> WeightedTerms:
    return terms_of(metric, () if part is None else part, "floor")


def _of_group(
    metric: Metric, finding: Finding, mean: WeightedTerms, scored: Mapping[str, WeightedTerms]
) -> Iterator[Finding]:
    """Yield the mean of the models of a group, and each model that has the best score."""
    columns = [mean, *scored.values()]
    of_mean, *of_models = estimate(columns, [metric.ends] * len(columns))
    yield estimated(
        replace(finding, measure="mean", n=len(mean)), of_mean, "No unit is of all models."
    )
    sign = 1 if metric.higher_is_better else -1
    values = [-np.inf if each.value is None else sign * each.value for each in of_models]
    for model, value, score in zip(scored, values, of_models, strict=True):
        if np.isclose(value, max(values)):
            best = replace(finding, measure="best", other=model, n=len(scored[model]))
            yield estimated(best, score)


def _differences(pairs: Sequence[tuple[Finding, Comparison]]) -> Iterator[Finding]:
    adjusted = holm([pair.p_value for _, pair in pairs])
    for (finding, pair), p in zip(pairs, adjusted, strict=True):
        yield difference(finding, pair, p, pair.reason)
