"""Comparisons of every two models, and the ranks that follow; the same for every benchmark.

What belongs here: which units two models are compared on, and which models have a rank. In the form
`floor` what a model failed counts as the lowest value; in the form `common` two models are compared on
what both were judged on. Ranks rest on the form `floor`. The tests are `statistics/`.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from methods.evaluation.counts import coverage
from methods.evaluation.metrics import Metric, Scored, Unit
from methods.evaluation.scoring import in_form, mean, units_of
from methods.evaluation.statistics.comparisons import Comparison, compare_pairs, holm
from methods.evaluation.statistics.power import minimum_detectable_effects
from methods.evaluation.statistics.ranks import rank_models
from methods.evaluation.statistics.resampling import N_RESAMPLES, Clusters, Floats

Row = dict[str, Any]


def compare(
    metrics: Sequence[Metric],
    observed: Mapping[str, Sequence[Scored]],
    *,
    least_coverage: float,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    unranked: Collection[str] = (),
) -> tuple[list[Row], list[Row]]:
    """Rows of comparisons, a pair of models each, and rows of ranks, for every metric.

    A model of which a smaller share than `least_coverage` was judged has no rank, and the row says why.
    `unranked` are contestants that are not compared either: baselines.
    """
    comparisons: list[Row] = []
    ranks: list[Row] = []
    models = sorted(set(observed) - set(unranked))
    covered = {model: coverage(observed[model]) for model in models}
    counting = {
        (model, form): in_form(observed[model], form)
        for model in models
        for form in ("floor", "judged")
    }
    for metric in metrics:
        of = {"metric": metric.name, "aggregation": metric.aggregation}
        for form, of_form in (("floor", "floor"), ("common", "judged")):
            columns = [units_of(metric, counting[model, of_form], of_form) for model in models]
            pairs = _pairs(columns, seed=seed, n_resamples=n_resamples)
            comparisons += [
                {**of, "form": form, **_row(models, pair), "detectable": effect}
                for pair, effect in pairs
            ]
            if form == "floor":
                compared = [pair for pair, _ in pairs]
                ranked = _ranks(metric, covered, columns, compared, least_coverage)
                ranks += [{**of, **row} for row in [*ranked, *_without_rank(observed, unranked)]]
    return comparisons, ranks


def _pairs(
    columns: Sequence[Sequence[Unit]], *, seed: int, n_resamples: int
) -> list[tuple[Comparison, float | None]]:
    """Every pair compared, with the smallest difference that it would show."""
    resampling = {"seed": seed, "n_resamples": n_resamples}
    if not any(unit.stratum for column in columns for unit in column):
        values, clusters = matrix(columns)
        pairs = compare_pairs(values, clusters, "micro", **resampling)
        effects = minimum_detectable_effects(values, clusters, "micro")
        return [(pair, of.effect) for pair, of in zip(pairs, effects, strict=True)]
    found: list[tuple[Comparison, float | None]] = []
    for first, second in combinations(range(len(columns)), 2):
        # A pair by itself: its units decide how much each stratum's units weigh.
        values, clusters = matrix(_by_stratum(columns[first], columns[second]))
        (pair,) = compare_pairs(values, clusters, "micro", **resampling)
        (effect,) = minimum_detectable_effects(values, clusters, "micro")
        found.append((replace(pair, first=first, second=second), effect.effect))
    adjusted = holm([pair.p_value for pair, _ in found])
    return [
        (replace(pair, p_adjusted=p), effect)
        for (pair, effect), p in zip(found, adjusted, strict=True)
    ]


def _by_stratum(first: Sequence[Unit], second: Sequence[Unit]) -> list[list[Unit]]:
    """The units that both have, weighted so that the mean of all is the mean of the strata's means."""
    both = {unit.key for unit in first} & {unit.key for unit in second}
    sizes = Counter(unit.stratum for unit in first if unit.key in both)
    weights = {name: len(both) / (len(sizes) * size) for name, size in sizes.items()}
    return [
        [
            replace(unit, value=(unit.value or 0.0) * weights[unit.stratum])
            for unit in column
            if unit.key in both
        ]
        for column in (first, second)
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


def _without_rank(
    observed: Mapping[str, Sequence[Scored]], unranked: Collection[str]
) -> Iterator[Row]:
    for model in sorted(set(observed) & set(unranked)):
        none: Row = dict.fromkeys(("rank", "rank_low", "rank_high"))
        share = coverage(observed[model])
        yield {"model": model, **none, "coverage": share, "why": "A baseline has no rank."}


def _ranks(
    metric: Metric,
    covered: Mapping[str, float],
    columns: Sequence[Sequence[Unit]],
    pairs: Sequence[Comparison],
    least_coverage: float,
) -> list[Row]:
    enough = [share >= least_coverage for share in covered.values()]
    ranked = rank_models(
        [mean(units) if of else None for units, of in zip(columns, enough, strict=True)],
        pairs,
        higher_is_better=metric.higher_is_better != metric.inverse,
    )
    rows = []
    for (model, share), of in zip(covered.items(), ranked, strict=True):
        why = None
        if of.rank is None:
            why = (
                f"{share:.1%} of its turns were judged, and a rank needs {least_coverage:.0%}."
                if share < least_coverage
                else "Nothing was judged that this metric rests on."
            )
        rows.append(
            {
                "model": model,
                "rank": of.rank,
                "rank_low": of.low,
                "rank_high": of.high,
                "coverage": share,
                "why": why,
            }
        )
    return rows
