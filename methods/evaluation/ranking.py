"""Pairwise comparisons of models, and the ranks that follow from them, for every benchmark.

The difference of two models in a composite metric is the sum over its terms, each on the units that
both models have. There are two forms: in `floor`, failed units count as the lowest value; in `common`,
two models are compared on the units that were judged for both. Ranks use `floor`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from methods.evaluation.candidates import NO_IMAGES, OTHER_IMAGES, ablation_of, is_model, model_of
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.observations import models_in
from methods.evaluation.metrics.units import (
    UnitMatrix,
    coverage_of,
    matrices,
    means,
    portions,
    units_of,
    weighted_by_stratum,
)
from methods.evaluation.scoring import in_form, split_labels, units_by_value
from methods.evaluation.statistics.bootstrap import (
    Clusters,
    ClusterTotals,
    PairTotals,
    paired_totals,
)
from methods.evaluation.statistics.comparisons import Comparison, compared_sides, holm
from methods.evaluation.statistics.power import minimum_detectable_effects
from methods.evaluation.statistics.ranks import rank_models
from methods.evaluation.statistics.weighted_sums import weighted_sum

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
_WITHOUT_RANK = {
    None: "A baseline has no rank.",
    NO_IMAGES: "A model without its images has no rank.",
    OTHER_IMAGES: "A model with the images of other items has no rank.",
}


def compare(
    metrics: Sequence[Metric], observed: "pd.DataFrame", *, least_coverage: float
) -> tuple[list[Row], list[Row]]:
    """Compare and rank the candidates by every metric.

    Ranks use the scores in which a model's failures count as the lowest value. Only models with their
    own images have a rank: a baseline is not compared, and a model without its images is compared only
    with the same model with images. These pairs are adjusted by Holm separately, so that the p of two
    models does not depend on them.

    Args:
        metrics: The metrics of the benchmark.
        observed: The observations of every candidate.
        least_coverage: The share of units, 0 to 1, that must be judged for a rank without a mark.

    Returns:
        Rows of comparisons, one for each pair, metric and form; and rows of ranks.
    """
    comparisons: list[Row] = []
    ranks: list[Row] = []
    candidates = models_in(observed)
    models = list(filter(is_model, candidates))
    ablated = [
        (model, name) for model in models for name in candidates if model_of(name) == model != name
    ]
    names = [*models, *(name for _, name in ablated)]
    with_itself = [(names.index(model), names.index(name)) for model, name in ablated]
    compared = observed[observed["model"].isin(names)]
    for some in map(dict, portions(enumerate(metrics), observed)):
        floor, judged = (
            units_of(some, in_form(compared, form), floor=form == "floor")
            for form in ("floor", "judged")
        )
        coverage = coverage_of(some, observed)
        for place, metric in some.items():
            about_metric = {"metric": metric.name, "aggregation": metric.aggregation}
            of_floor, of_judged = (units[units["place"] == place] for units in (floor, judged))
            pairs = _compared_units(metric, of_floor, names, len(models), with_itself)
            # If nothing failed, both forms are the same.
            common = (
                pairs
                if of_judged.equals(of_floor)
                else _compared_units(metric, of_judged, names, len(models), with_itself)
            )
            for form, of_form in (("floor", pairs), ("common", common)):
                comparisons += [
                    {**about_metric, "form": form, **_row(names, pair), "detectable": effect}
                    for pair, effect in [*of_form.all, *of_form.with_itself]
                ]
            values = means(of_floor, metric.weights).reindex(models)
            covered = {name: coverage.get((place, name), 0.0) for name in candidates}
            ranked = _ranks(
                metric,
                {model: covered[model] for model in models},
                [None if np.isnan(value) else value for value in values],
                [pair for pair, _ in pairs.all],
                least_coverage,
            )
            ranks += [{**about_metric, **row} for row in [*ranked, *_without_rank(covered)]]
    return comparisons, ranks


Compared = list[tuple[Comparison, float | None]]
"""Pairs, each with the smallest difference that it can detect."""


class _ComparedPairs(NamedTuple):
    """What is compared by one metric in one form: all pairs of models, and each with itself."""

    all: Compared
    with_itself: Compared


def _compared_units(
    metric: Metric,
    units: "pd.DataFrame",
    names: Sequence[str],
    n_models: int,
    with_itself: Sequence[tuple[int, int]],
) -> _ComparedPairs:
    """The comparisons of the first `n_models` of these names, and of models with their ablations."""
    terms = matrices(units, names, len(metric.weights))
    of_models = [term.of_models(range(n_models)) for term in terms]
    if all(len(np.unique(term.strata)) < 2 for term in of_models):
        pairs = compared_rows(of_models, metric)
    elif any(np.isnan(term.values).any() for term in of_models):
        pairs = chosen_pairs(terms, list(combinations(range(n_models), 2)), metric)
    else:
        # All columns have the same units, so strata weigh the same in every pair.
        pairs = compared_rows(list(map(weighted_by_stratum, of_models)), metric)
    return _ComparedPairs(pairs, chosen_pairs(terms, with_itself, metric))


def chosen_pairs(
    terms: Sequence[UnitMatrix], chosen: Sequence[tuple[int, int]], metric: Metric
) -> Compared:
    """Compare some pairs separately: the units of a pair determine the weights of the strata.

    Args:
        terms: The units of each term of the metric.
        chosen: The pairs, by their rows.
        metric: The metric.

    Returns:
        The pairs, with p adjusted by Holm over all of them.
    """
    effects = [
        compared_rows([weighted_by_stratum(term.of_models(pair)) for term in terms], metric)[0]
        for pair in chosen
    ]
    adjusted = holm([pair.p_value for pair, _ in effects])
    return [
        (replace(pair, first=first, second=second, p_adjusted=p), effect)
        for (pair, effect), (first, second), p in zip(effects, chosen, adjusted, strict=True)
    ]


def compared_rows(terms: Sequence[UnitMatrix], metric: Metric) -> Compared:
    """Compare every two rows of units without strata.

    Args:
        terms: The units of each term of the metric.
        metric: The metric.

    Returns:
        The pairs by their rows, with p adjusted by Holm over all of them.
    """
    if len(terms[0].values) < 2:
        return []
    pair_totals = [paired_totals(term.values, term.clusters) for term in terms]
    totals = weighted_sum(
        metric.weights,
        on_clusters([pairs.totals for pairs in pair_totals], [term.clusters for term in terms]),
    )
    n_units = np.min([pairs.totals.sizes.sum(axis=1) for pairs in pair_totals], axis=0)
    compared = compared_sides(PairTotals(pair_totals[0].pairs, totals), metric.span)
    pairs = [replace(pair, n_units=int(n)) for pair, n in zip(compared, n_units, strict=True)]
    return list(zip(pairs, minimum_detectable_effects(totals), strict=True))


def on_clusters(
    totals: Sequence[ClusterTotals], clusters: Sequence[Clusters]
) -> Sequence[ClusterTotals]:
    """Extend the totals of each term to the clusters of all terms; 0 for a cluster without units."""
    if len(totals) == 1:
        return totals
    all_clusters = np.unique(np.concatenate(clusters))
    spread = []
    for totals_of_term, clusters_of_term in zip(totals, clusters, strict=True):
        sums, sizes = np.zeros((2, len(totals_of_term.sums), len(all_clusters)))
        places = np.searchsorted(all_clusters, np.unique(clusters_of_term))
        sums[:, places], sizes[:, places] = totals_of_term.sums, totals_of_term.sizes
        spread.append(ClusterTotals(sums, sizes))
    return spread


def compare_parts(
    metrics: Sequence[Metric], observed: "pd.DataFrame", labels: Sequence[str]
) -> list[Row]:
    """Compare every two models on the items with each value of the labels.

    The metric is the first one with a micro mean. Failed units count as the lowest value.

    Args:
        metrics: The metrics of the benchmark.
        observed: The observations of every candidate.
        labels: The labels to split by.

    Returns:
        The rows; p is adjusted by Holm over all pairs and values of a label.
    """
    models = list(filter(is_model, models_in(observed)))
    metric = next((metric for metric in metrics if metric.aggregation == "micro"), None)
    if metric is None or len(models) < 2:
        return []
    observed = observed[observed["model"].isin(models)]
    splits = split_labels(observed)
    rows: list[Row] = []
    for label in (label for label in labels if label in splits):
        of_label = [
            (value, pair)
            for value, units in units_by_value(metric, observed, label)
            for pair, _ in compared_rows(matrices(units, models, len(metric.weights)), metric)
        ]
        adjusted = holm([pair.p_value for _, pair in of_label])
        rows += [
            {
                "metric": metric.name,
                "aggregation": metric.aggregation,
                "subset_label": label,
                "subset_value": value,
                **_row(models, replace(pair, p_adjusted=p)),
            }
            for (value, pair), p in zip(of_label, adjusted, strict=True)
        ]
    return rows


def _row(models: Sequence[str], pair: Comparison) -> Row:
    return {
        "first": models[pair.first],
        "second": models[pair.second],
        "difference": pair.difference,
        "ci_low": pair.ci_low,
        "ci_high": pair.ci_high,
        "p": pair.p_value,
        "p_holm": pair.p_adjusted,
        "n_units": pair.n_units,
        "n_clusters": pair.n_clusters,
        "method": pair.method,
    }


def _without_rank(covered: Mapping[str, float]) -> Iterator[Row]:
    for name, share in covered.items():
        if not is_model(name):
            none: Row = dict.fromkeys(("rank", "rank_low", "rank_high", "mark"))
            why = _WITHOUT_RANK[ablation_of(name)]
            yield {"model": name, **none, "coverage": share, "why": why}


def _ranks(
    metric: Metric,
    covered: Mapping[str, float],
    means: Sequence[float | None],
    pairs: Sequence[Comparison],
    least_coverage: float,
) -> list[Row]:
    ranked = rank_models(means, pairs, higher_is_better=metric.higher_is_better != metric.inverse)
    rows = []
    for (model, share), rank in zip(covered.items(), ranked, strict=True):
        is_ranked = rank.rank is not None
        why = None if is_ranked else "Nothing was judged that this metric rests on."
        mark = f"{share:.1%} of what this metric needs was judged."
        rows.append(
            {
                "model": model,
                "rank": rank.rank,
                "rank_low": rank.low,
                "rank_high": rank.high,
                "coverage": share,
                "why": why,
                "mark": mark if is_ranked and share < least_coverage else None,
            }
        )
    return rows
