"""Pairwise comparisons of models, and the ranks that follow from them, for every benchmark.

The difference of two models in a composite metric is the sum over its terms, each on the units that
both models have. There are two forms: in `floor`, failed units count as the lowest value; in `common`,
two models are compared on the units that were judged for both. Ranks use `floor`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from methods.evaluation.candidates import (
    NO_IMAGES,
    OTHER_IMAGES,
    ablation_of,
    is_model,
    model_of,
)
from methods.evaluation.metrics import Metric, ScoredObservation
from methods.evaluation.metrics.observations import Observations, with_names_in_common
from methods.evaluation.metrics.terms import WeightedTerms, by_term, coverage_of
from methods.evaluation.metrics.units import Units, by_stratum, cluster_names, in_all, matrix
from methods.evaluation.scoring import by_subset, in_form, terms_of
from methods.evaluation.slices import subsets
from methods.evaluation.statistics.bootstrap import ClusterTotals, Floats
from methods.evaluation.statistics.comparisons import (
    Comparison,
    PairTotals,
    compared_sides,
    holm,
    sides,
)
from methods.evaluation.statistics.power import minimum_detectable_effects
from methods.evaluation.statistics.ranks import rank_models
from methods.evaluation.statistics.weighted_sums import weighted_sum

Row = dict[str, Any]
_WITHOUT_RANK = {
    None: "A baseline has no rank.",
    NO_IMAGES: "A model without its images has no rank.",
    OTHER_IMAGES: "A model with the images of other items has no rank.",
}


def compare(
    metrics: Sequence[Metric],
    observed: Mapping[str, Sequence[ScoredObservation]],
    *,
    least_coverage: float,
) -> tuple[list[Row], list[Row]]:
    """Compare and rank the candidates by every metric.

    Ranks use the scores in which a model's failures count as the lowest value. Only models with their
    own images have a rank: a baseline is not compared, and a model without its images is compared only
    with the same model with images. These pairs are adjusted by Holm separately, so that the p of two
    models does not depend on them.

    Args:
        metrics: The metrics of the benchmark.
        observed: The observations of each candidate.
        least_coverage: The share of units, 0 to 1, that must be judged for a rank without a mark.

    Returns:
        Rows of comparisons, one for each pair, metric and form; and rows of ranks.
    """
    comparisons: list[Row] = []
    ranks: list[Row] = []
    models = sorted(filter(is_model, observed))
    ablated = [
        (model, name)
        for model in models
        for name in sorted(observed)
        if model_of(name) == model != name
    ]
    names = [*models, *(name for _, name in ablated)]
    with_itself = [(names.index(model), names.index(name)) for model, name in ablated]
    columns = with_names_in_common(observed)
    counting = {
        (name, form): in_form(columns[name], form) for name in names for form in ("floor", "judged")
    }
    cells: list[_Cell] = []
    for metric in metrics:
        before: list[WeightedTerms] = []
        for form, of_form in (("floor", "floor"), ("common", "judged")):
            of_names = [terms_of(metric, counting[name, of_form], of_form) for name in names]
            # If nothing failed, both forms are the same.
            if form == "common" and all(map(WeightedTerms.equals, of_names, before)):
                cells.append(cells[-1]._replace(form=form))
                continue
            before, of_models = of_names, of_names[: len(models)]
            means = [terms.mean() for terms in of_models]
            cells.append(
                _Cell(
                    metric,
                    form,
                    means,
                    _all(of_models, metric.span),
                    _chosen(of_names, with_itself, metric.span),
                )
            )
    for cell in cells:
        about_metric = {"metric": cell.metric.name, "aggregation": cell.metric.aggregation}
        comparisons += [
            {**about_metric, "form": cell.form, **_row(names, pair), "detectable": effect}
            for pair, effect in [*cell.all, *cell.with_itself]
        ]
        if cell.form == "floor":
            compared = [pair for pair, _ in cell.all]
            covered = {model: coverage_of(cell.metric, columns[model]) for model in models}
            ranked = _ranks(cell.metric, covered, cell.means, compared, least_coverage)
            others = _without_rank(cell.metric, columns)
            ranks += [{**about_metric, **row} for row in [*ranked, *others]]
    return comparisons, ranks


Compared = list[tuple[Comparison, float | None]]
"""Pairs, each with the smallest difference that it can detect."""


class _Cell(NamedTuple):
    """Comparisons by one metric in one form: means of models, all pairs, and ablation pairs."""

    metric: Metric
    form: str
    means: list[float | None]
    all: Compared
    with_itself: Compared


def _all(columns: Sequence[WeightedTerms], span: float) -> Compared:
    """Compare every pair of columns."""
    if any(terms.has_strata for terms in columns):
        of_terms = by_term(columns)
        if any(len(units) != len(in_all(of_term)) for of_term in of_terms for units in of_term):
            return _chosen(columns, list(combinations(range(len(columns)), 2)), span)
        # All columns have the same units, so strata weigh the same in every pair.
        columns = _weighted(columns)
    return compared_columns(columns, span)


def _chosen(
    columns: Sequence[WeightedTerms], chosen: Sequence[tuple[int, int]], span: float
) -> Compared:
    """Compare the chosen pairs separately: the units of a pair determine the weights of the strata."""
    effects = [
        compared_columns(_weighted([columns[first], columns[second]]), span)[0]
        for first, second in chosen
    ]
    adjusted = holm([pair.p_value for pair, _ in effects])
    return [
        (replace(pair, first=first, second=second, p_adjusted=p), effect)
        for (pair, effect), (first, second), p in zip(effects, chosen, adjusted, strict=True)
    ]


def _weighted(columns: Sequence[WeightedTerms]) -> list[WeightedTerms]:
    """The columns with the units of each term weighted by their strata."""
    weighted = [by_stratum(of_term) for of_term in by_term(columns)]
    return [
        WeightedTerms(terms.weights, units)
        for terms, units in zip(columns, zip(*weighted, strict=True), strict=True)
    ]


def compared_columns(columns: Sequence[WeightedTerms], span: float) -> Compared:
    """Compare every two columns of units without strata.

    Args:
        columns: The units of each column, term by term.
        span: The largest possible difference of two values.

    Returns:
        The pairs by the indexes of their columns, with p adjusted by Holm over all of them.
    """
    if len(columns) < 2:
        return []
    differences, n_units = _paired_sides(columns)
    pairs = [
        replace(pair, n_units=int(n))
        for pair, n in zip(compared_sides(differences, span), n_units, strict=True)
    ]
    effects = minimum_detectable_effects(differences.totals)
    return list(zip(pairs, effects, strict=True))


def _paired_sides(columns: Sequence[WeightedTerms]) -> tuple[PairTotals, Floats]:
    """Compute the differences of every two columns, for at least two columns.

    Returns:
        The differences, and the number of units of each pair in the term with the fewest units.
    """
    of_terms = by_term(columns)
    pair_totals = [sides(*matrix(of_term)) for of_term in of_terms]
    totals = weighted_sum(
        columns[0].weights, on_clusters([f.totals for f in pair_totals], of_terms)
    )
    n_units = np.min([of.totals.sizes.sum(axis=1) for of in pair_totals], axis=0)
    return PairTotals(pair_totals[0].pairs, totals), n_units


def on_clusters(
    totals: Sequence[ClusterTotals], of_terms: Sequence[Sequence[Units]]
) -> Sequence[ClusterTotals]:
    """Extend the totals of each term to the clusters of all terms.

    Args:
        totals: The totals of each term on its own clusters.
        of_terms: The units of each term, for the names of clusters.

    Returns:
        The totals of each term, rows x all clusters; 0 for a cluster without units.
    """
    if len(totals) == 1:
        return totals
    names = [cluster_names(of_term) for of_term in of_terms]
    all_names = np.unique(np.concatenate(names))
    spread = []
    for totals_of_term, own_names in zip(totals, names, strict=True):
        sums, sizes = np.zeros((2, len(totals_of_term.sums), len(all_names)))
        places = np.searchsorted(all_names, own_names)
        sums[:, places], sizes[:, places] = totals_of_term.sums, totals_of_term.sizes
        spread.append(ClusterTotals(sums, sizes))
    return spread


def compare_parts(
    metrics: Sequence[Metric],
    observed: Mapping[str, Sequence[ScoredObservation]],
    labels: Sequence[str],
) -> list[Row]:
    """Compare every two models on the items with each value of the labels.

    The metric is the first one with a micro mean. Failed units count as the lowest value.

    Args:
        metrics: The metrics of the benchmark.
        observed: The observations of each candidate.
        labels: The labels to split by.

    Returns:
        The rows; p is adjusted by Holm over all pairs and values of a label.
    """
    models = sorted(filter(is_model, observed))
    metric = next((metric for metric in metrics if metric.aggregation == "micro"), None)
    if metric is None or len(models) < 2:
        return []
    columns = with_names_in_common({model: observed[model] for model in models})
    split = set(subsets([labels for of in columns.values() for labels in of.label_sets]))
    parts = {model: by_subset(in_form(of, "floor"), split) for model, of in columns.items()}
    pairs_by_subset = {}
    for label, value in sorted(subset for subset in split if subset[0] in labels):
        part = [parts[model].get((label, value), ()) for model in models]
        of_models = [terms_of(metric, scored, "floor") for scored in part]
        pairs_by_subset[label, value] = [
            pair for pair, _ in compared_columns(of_models, metric.span)
        ]
    rows: list[Row] = []
    for label in labels:
        of_label = [
            (value, pair)
            for (subset_label, value), compared in pairs_by_subset.items()
            if subset_label == label
            for pair in compared
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


def _without_rank(metric: Metric, observed: Mapping[str, Observations]) -> Iterator[Row]:
    for name in sorted(observed):
        if is_model(name):
            continue
        none: Row = dict.fromkeys(("rank", "rank_low", "rank_high", "mark"))
        share = coverage_of(metric, observed[name])
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
