"""Comparisons of every two models, and the ranks that follow; the same for every benchmark.

What belongs here: which units two models are compared on, and which models have a rank. In the form
`floor` what a model failed counts as the lowest value; in the form `common` two models are compared on
what both were judged on. Ranks rest on the form `floor`. The tests are `statistics/`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

from methods.evaluation.contestants import (
    NO_IMAGES,
    OTHER_IMAGES,
    ablation_of,
    is_model,
    model_of,
)
from methods.evaluation.counts import coverage
from methods.evaluation.metrics import Metric, Scored
from methods.evaluation.metrics.observations import with_names_in_common
from methods.evaluation.metrics.units import Units, by_stratum, in_all, matrix
from methods.evaluation.scoring import by_subset, in_form, units_of
from methods.evaluation.slices import subsets
from methods.evaluation.statistics.comparisons import Comparison, Tables, holm, sides
from methods.evaluation.statistics.power import MinimumDetectableEffect, effects_of
from methods.evaluation.statistics.ranks import rank_models
from methods.evaluation.statistics.resampling import N_RESAMPLES

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
    columns = with_names_in_common(observed)
    covered = {model: coverage(columns[model]) for model in models}
    counting = {
        (name, form): in_form(columns[name], form) for name in names for form in ("floor", "judged")
    }
    tables = _Tables(seed=seed, n_resamples=n_resamples)
    cells: list[_Cell] = []
    for metric in metrics:
        before: list[Units] = []
        for form, of_form in (("floor", "floor"), ("common", "judged")):
            of_names = [units_of(metric, counting[name, of_form], of_form) for name in names]
            # Where nothing failed the forms are the same.
            if form == "common" and all(map(Units.equals, of_names, before)):
                cells.append(cells[-1]._replace(form=form))
                continue
            before, of_models = of_names, of_names[: len(models)]
            means = [units.mean() for units in of_models]
            added = [tables.add_all(of_models), tables.add_chosen(of_names, with_itself)]
            cells.append(_Cell(metric, form, means, *added))
    for cell in cells:
        about_metric = {"metric": cell.metric.name, "aggregation": cell.metric.aggregation}
        pairs, one_by_one = tables.found(cell.all), tables.found(cell.with_itself)
        comparisons += [
            {**about_metric, "form": cell.form, **_row(names, pair), "detectable": effect}
            for pair, effect in [*pairs, *one_by_one]
        ]
        if cell.form == "floor":
            compared = [pair for pair, _ in pairs]
            ranked = _ranks(cell.metric, covered, cell.means, compared, least_coverage)
            ranks += [{**about_metric, **row} for row in [*ranked, *_without_rank(columns)]]
    return comparisons, ranks


class _Cell(NamedTuple):
    """What is compared by one metric in one form: means of models, and where their pairs are."""

    metric: Metric
    form: str
    means: list[float | None]
    all: "_Added"
    with_itself: "_Added"


class _Added(NamedTuple):
    """Tables that were added: one of all pairs, or one for each of the `chosen` ones."""

    places: list[int]
    chosen: Sequence[tuple[int, int]] | None = None


class _Tables:
    """Pairs that are compared, and the smallest difference that each would show."""

    def __init__(self, *, seed: int, n_resamples: int):
        self._tables = Tables(seed=seed, n_resamples=n_resamples)
        self._effects: list[list[MinimumDetectableEffect]] = []

    def add_all(self, columns: Sequence[Units]) -> _Added:
        """Every pair of columns."""
        if any(units.has_strata for units in columns):
            shared = in_all(columns)
            if any(len(units) != len(shared) for units in columns):
                return self.add_chosen(columns, list(combinations(range(len(columns)), 2)))
            # All have the same units: strata weigh the same in every pair, and one set of draws serves
            # all.
            columns = by_stratum(columns)
        return _Added([self._add(columns)])

    def add_chosen(self, columns: Sequence[Units], chosen: Sequence[tuple[int, int]]) -> _Added:
        """These pairs, each by itself: its units decide how much each stratum's units weigh."""
        pairs = [by_stratum([columns[first], columns[second]]) for first, second in chosen]
        return _Added([self._add(pair) for pair in pairs], chosen)

    def found(self, added: _Added) -> list[tuple[Comparison, float | None]]:
        """The pairs with their effects; p is adjusted over those that were added together."""
        every = self._tables.found()
        pairs = [pair for place in added.places for pair in every[place]]
        effects = [each.effect for place in added.places for each in self._effects[place]]
        if added.chosen is not None:
            adjusted = holm([pair.p_value for pair in pairs])
            pairs = [
                replace(pair, first=first, second=second, p_adjusted=p)
                for pair, (first, second), p in zip(pairs, added.chosen, adjusted, strict=True)
            ]
        return list(zip(pairs, effects, strict=True))

    def _add(self, columns: Sequence[Units]) -> int:
        of = sides(*matrix(columns))
        self._effects.append(effects_of(of.pairs, of.totals))
        return self._tables.add(of)


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
    columns = with_names_in_common({model: observed[model] for model in models})
    split = set(subsets([labels for of in columns.values() for labels in of.label_sets]))
    parts = {model: by_subset(in_form(of, "floor"), split) for model, of in columns.items()}
    tables = Tables(seed=seed, n_resamples=n_resamples)
    places = {}
    for label, value in sorted(subset for subset in split if subset[0] in labels):
        part = [parts[model].get((label, value), ()) for model in models]
        of_models = [units_of(metric, scored, "floor") for scored in part]
        places[label, value] = tables.add(sides(*matrix(of_models)))
    found = tables.found()
    rows: list[Row] = []
    for label in labels:
        of_label = [
            (value, pair)
            for (of, value), place in places.items()
            if of == label
            for pair in found[place]
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
    means: Sequence[float | None],
    pairs: Sequence[Comparison],
    least_coverage: float,
) -> list[Row]:
    enough = [share >= least_coverage for share in covered.values()]
    ranked = rank_models(
        [value if is_enough else None for value, is_enough in zip(means, enough, strict=True)],
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
