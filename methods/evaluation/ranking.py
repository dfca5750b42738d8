"""Comparisons of every two models, and the ranks that follow; the same for every benchmark.

What belongs here: which units two models are compared on, and which models have a rank. In the form
`floor` what a model failed counts as the lowest value; in the form `common` two models are compared on
what both were judged on. Ranks rest on the form `floor`. The tests are `statistics/`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from methods.evaluation.contestants import (
    NO_IMAGES,
    OTHER_IMAGES,
    ablation_of,
    is_model,
    model_of,
)
from methods.evaluation.counts import coverage
from methods.evaluation.metrics import Metric, Scored, Unit
from methods.evaluation.scoring import by_subset, in_form, mean, units_of
from methods.evaluation.slices import subsets
from methods.evaluation.statistics.comparisons import Comparison, compare_pairs, holm
from methods.evaluation.statistics.power import minimum_detectable_effects
from methods.evaluation.statistics.ranks import rank_models
from methods.evaluation.statistics.resampling import N_RESAMPLES, Clusters, Floats

Row = dict[str, Any]
_WITHOUT_RANK = {
    None: "A baseline has no rank.",
    NO_IMAGES: "A model without its images has no rank.",
    OTHER_IMAGES: "A model with the images of other items has no rank.",
}


def compare(
    metrics: Sequence[Metric],
    observed: Mapping[str, Sequence[Scored]],
    *,
    least_coverage: float,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> tuple[list[Row], list[Row]]:
    """Rows of comparisons, a pair of contestants each, and rows of ranks, for every metric.

    A model of which a smaller share than `least_coverage` was judged has no rank, and the row says why.
    Who is no model has no rank: a baseline is not compared, a model without its images only with the
    model itself (first the model). These pairs are adjusted by Holm among themselves, so that p of two
    models is the same whether they are there or not.
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
    covered = {model: coverage(observed[model]) for model in models}
    counting = {
        (name, form): in_form(observed[name], form)
        for name in names
        for form in ("floor", "judged")
    }
    for metric in metrics:
        about_metric = {"metric": metric.name, "aggregation": metric.aggregation}
        before = None
        for form, of_form in (("floor", "floor"), ("common", "judged")):
            columns = [units_of(metric, counting[name, of_form], of_form) for name in names]
            of_models = columns[: len(models)]
            # Where nothing failed the forms are the same.
            if columns != before:
                pairs = _pairs(of_models, seed=seed, n_resamples=n_resamples)
                one_by_one = _chosen_pairs(columns, with_itself, seed=seed, n_resamples=n_resamples)
            before = columns
            comparisons += [
                {**about_metric, "form": form, **_row(names, pair), "detectable": effect}
                for pair, effect in [*pairs, *one_by_one]
            ]
            if form == "floor":
                compared = [pair for pair, _ in pairs]
                ranked = _ranks(metric, covered, of_models, compared, least_coverage)
                ranks += [{**about_metric, **row} for row in [*ranked, *_without_rank(observed)]]
    return comparisons, ranks


def compare_parts(
    metrics: Sequence[Metric],
    observed: Mapping[str, Sequence[Scored]],
    labels: Sequence[str],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> list[Row]:
    """Every two models on the items with each value of `labels`, by the first metric that is split.

    What a model failed counts as the lowest value. p is adjusted by Holm over all pairs and values of a
    label.
    """
    models = sorted(filter(is_model, observed))
    metric = next((metric for metric in metrics if metric.aggregation == "micro"), None)
    if metric is None or len(models) < 2:
        return []
    split = set(subsets([score.labels for model in models for score in observed[model]]))
    parts = {model: by_subset(in_form(observed[model], "floor"), split) for model in models}
    rows: list[Row] = []
    for label in labels:
        of_label = []
        for value in sorted(value for split_label, value in split if split_label == label):
            part = [parts[model].get((label, value), []) for model in models]
            values, clusters = matrix([units_of(metric, scored, "floor") for scored in part])
            pairs = compare_pairs(values, clusters, "micro", seed=seed, n_resamples=n_resamples)
            of_label += [(value, pair) for pair in pairs]
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


def _pairs(
    columns: Sequence[Sequence[Unit]], *, seed: int, n_resamples: int
) -> list[tuple[Comparison, float | None]]:
    """Every pair compared, with the smallest difference that it would show."""
    resampling = {"seed": seed, "n_resamples": n_resamples}
    if any(unit.stratum for column in columns for unit in column):
        if len({frozenset(unit.key for unit in column) for column in columns}) > 1:
            return _chosen_pairs(columns, list(combinations(range(len(columns)), 2)), **resampling)
        # All have the same units: strata weigh the same in every pair, and one set of draws serves all.
        columns = by_stratum(*columns)
    values, clusters = matrix(columns)
    pairs = compare_pairs(values, clusters, "micro", **resampling)
    effects = minimum_detectable_effects(values, clusters, "micro")
    return [(pair, effect.effect) for pair, effect in zip(pairs, effects, strict=True)]


def _chosen_pairs(
    columns: Sequence[Sequence[Unit]],
    chosen: Sequence[tuple[int, int]],
    *,
    seed: int,
    n_resamples: int,
) -> list[tuple[Comparison, float | None]]:
    """These pairs, each by itself: its units decide how much each stratum's units weigh."""
    chosen_pairs: list[tuple[Comparison, float | None]] = []
    for first, second in chosen:
        values, clusters = matrix(by_stratum(columns[first], columns[second]))
        (pair,) = compare_pairs(values, clusters, "micro", seed=seed, n_resamples=n_resamples)
        (effect,) = minimum_detectable_effects(values, clusters, "micro")
        chosen_pairs.append((replace(pair, first=first, second=second), effect.effect))
    adjusted = holm([pair.p_value for pair, _ in chosen_pairs])
    return [
        (replace(pair, p_adjusted=p), effect)
        for (pair, effect), p in zip(chosen_pairs, adjusted, strict=True)
    ]


def by_stratum(*columns: Sequence[Unit]) -> list[list[Unit]]:
    """The units that all have, weighted so that the mean of all is the mean of the strata's means."""
    shared = set.intersection(*({unit.key for unit in column} for column in columns))
    sizes = Counter(unit.stratum for unit in columns[0] if unit.key in shared)
    weights = {name: len(shared) / (len(sizes) * size) for name, size in sizes.items()}
    return [
        [
            replace(unit, value=(unit.value or 0.0) * weights[unit.stratum])
            for unit in column
            if unit.key in shared
        ]
        for column in columns
    ]


def matrix(columns: Sequence[Sequence[Unit]]) -> tuple[Floats, Clusters]:
    """Values (models x units, NaN where a model lacks a unit) and the cluster of each unit."""
    units = {unit.key: unit for column in columns for unit in column}
    places = {key: place for place, key in enumerate(sorted(units, key=str))}
    labels = {name: n for n, name in enumerate(sorted({u.cluster for u in units.values()}))}
    values = np.full((len(columns), len(units)), np.nan)
    clusters = np.zeros(len(units), dtype=np.int64)
    for key, place in places.items():
        clusters[place] = labels[units[key].cluster]
    for row, column in enumerate(columns):
        for unit in column:
            values[row, places[unit.key]] = np.nan if unit.value is None else unit.value
    return values, clusters


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
    }


def _without_rank(observed: Mapping[str, Sequence[Scored]]) -> Iterator[Row]:
    for name in sorted(observed):
        if is_model(name):
            continue
        none: Row = dict.fromkeys(("rank", "rank_low", "rank_high"))
        share = coverage(observed[name])
        why = _WITHOUT_RANK[ablation_of(name)]
        yield {"model": name, **none, "coverage": share, "why": why}


def _ranks(
    metric: Metric,
    covered: Mapping[str, float],
    columns: Sequence[Sequence[Unit]],
    pairs: Sequence[Comparison],
    least_coverage: float,
) -> list[Row]:
    enough = [share >= least_coverage for share in covered.values()]
    ranked = rank_models(
        [
            mean(units) if is_enough else None
            for units, is_enough in zip(columns, enough, strict=True)
        ],
        pairs,
        higher_is_better=metric.higher_is_better != metric.inverse,
    )
    rows = []
    for (model, share), rank in zip(covered.items(), ranked, strict=True):
        why = None
        if rank.rank is None:
            why = (
                f"{share:.1%} of its turns were judged, and a rank needs {least_coverage:.0%}."
                if share < least_coverage
                else "Nothing was judged that this metric rests on."
            )
        rows.append(
            {
                "model": model,
                "rank": rank.rank,
                "rank_low": rank.low,
                "rank_high": rank.high,
                "coverage": share,
                "why": why,
            }
        )
    return rows
