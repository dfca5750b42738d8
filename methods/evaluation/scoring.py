"""Scoring: from the observations of one judge to scores with confidence intervals, for every benchmark.

A composite metric is the weighted sum of the scores of its terms in the same form. A score has three
forms, so that a model gains nothing by failing: `floor` counts units that the model failed as the
lowest value, `judged` leaves them out, `common` has the units on which every model was judged. Units
that the judge failed are left out of all three. If a release lacks images, there is a fourth form:
`all_items` is `floor` with the items that lack an image, which count as the lowest value if they were
not asked.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from methods.evaluation.candidates import is_model
from methods.evaluation.columns import UnitColumns
from methods.evaluation.counts import counts_of
from methods.evaluation.judging import BY_THE_MODEL, NO_PICTURE
from methods.evaluation.metrics import Metric, ScoredObservation, Unit
from methods.evaluation.metrics.observations import Observations, with_names_in_common
from methods.evaluation.metrics.terms import WeightedTerms
from methods.evaluation.metrics.terms import in_common as terms_in_common
from methods.evaluation.metrics.units import Units
from methods.evaluation.slices import TURN_LABELS, subsets

ALL = ("", "")
"""The subset of all items."""
ALL_ITEMS = "all_items"
"""The form that includes the items that no model was asked, as they lack an image."""


class ScoreKey(NamedTuple):
    """The key of a score; `place` is the position of the metric in its benchmark's list."""

    metric: Metric
    place: int
    form: str
    subset: tuple[str, str]
    model: str


def score_rows(
    metrics: Sequence[Metric],
    observed: Mapping[str, Sequence[ScoredObservation]],
    with_lost: Mapping[str, Sequence[ScoredObservation]] | None = None,
) -> list[dict[str, Any]]:
    """Score every candidate: one row for each metric, form, subset and model.

    Subsets are those of the labels of all observations. Micro means and shares are split by them, in
    the forms `floor` and `judged`. Baselines and ablations do not affect which units all models have in
    common.

    Args:
        metrics: The metrics of the benchmark.
        observed: The observations of each candidate.
        with_lost: The observations including items whose images are missing, for the form `all_items`.

    Returns:
        Rows with value, interval, method, n_units and counts.
    """
    columns = with_names_in_common(observed)
    split = set(subsets([labels for of in columns.values() for labels in of.label_sets]))
    parts = {model: {ALL: of, **by_subset(of, split)} for model, of in columns.items()}
    every = with_names_in_common(with_lost or {})
    cells, packed = [], UnitColumns()
    # Build the units of one cell at a time: the units of all cells would fill the memory.
    for cell, terms in chain(_cells(metrics, parts), _of_all_items(metrics, every)):
        if len(terms):
            cells.append((cell, len(terms)))
            packed.add(terms, cell.metric.ends)
    estimates = packed.estimates()
    counts = {
        model: {subset: counts_of(part) for subset, part in of_subsets.items()}
        for model, of_subsets in parts.items()
    }
    of_all = {model: {ALL: counts_of(of)} for model, of in every.items()}
    rows = []
    for (cell, n_units), estimate in zip(cells, estimates, strict=True):
        ends = [end for end in (estimate.ci_low, estimate.ci_high) if end is not None]
        # The statistic may swap the ends, as that of a spread is an inverse.
        shown = sorted(map(cell.metric.statistic, ends))
        rows.append(
            {
                "model": cell.model,
                "metric": cell.metric.name,
                "aggregation": cell.metric.aggregation,
                "place": cell.place,
                "form": cell.form,
                "subset_label": cell.subset[0],
                "subset_value": cell.subset[1],
                "value": None if estimate.value is None else cell.metric.statistic(estimate.value),
                "ci_low": shown[0] if shown else None,
                "ci_high": shown[-1] if shown else None,
                "method": estimate.method,
                "n_clusters": estimate.n_clusters,
                "n_units": n_units,
                **(of_all if cell.form == ALL_ITEMS else counts)[cell.model][cell.subset],
            }
        )
    return rows


def floored(
    scored: Sequence[ScoredObservation], lost: Collection[str] = BY_THE_MODEL
) -> Observations:
    """Select the observations with a value, and those that count as the lowest value.

    Args:
        scored: Observations.
        lost: The statuses that count as the lowest value; by default those that are the model's fault.

    Returns:
        The observations, without those that the judge failed.
    """
    observations = Observations.from_scored(scored)
    counted = np.array([status in lost for status in observations.names.statuses], dtype=bool)
    return observations.take(observations.has_value | counted[observations.column("statuses")])


def judged_only(scored: Sequence[ScoredObservation]) -> Observations:
    """Select the observations that have a value."""
    observations = Observations.from_scored(scored)
    return observations.take(observations.has_value)


def in_form(scored: Sequence[ScoredObservation], form: str) -> Observations:
    """Select the observations that count in a form.

    Args:
        scored: Observations.
        form: `floor` or `judged`.

    Returns:
        The observations.
    """
    return floored(scored) if form == "floor" else judged_only(scored)


def units_of(metric: Metric, counting: Sequence[ScoredObservation], form: str) -> Units:
    """Compute the units of a metric that have a value.

    The units of a composite metric are its values item by item; `terms_of` gives its score.

    Args:
        metric: The metric.
        counting: One model's observations that count in the form.
        form: `floor` or `judged`.

    Returns:
        The units.
    """
    names = counting.names if isinstance(counting, Observations) else None
    return Units.from_units(metric.units(counting, floor=form == "floor"), names).valued()


def terms_of(metric: Metric, counting: Sequence[ScoredObservation], form: str) -> WeightedTerms:
    """Compute the units with a value of each term of a metric.

    Args:
        metric: The metric.
        counting: One model's observations that count in the form.
        form: `floor` or `judged`.

    Returns:
        The terms with their weights.
    """
    return WeightedTerms.from_observations(metric, counting, floor=form == "floor")


def in_common(columns: Mapping[str, WeightedTerms]) -> dict[str, WeightedTerms]:
    """Keep the units of each candidate that all models with units have in common. Baselines and
    ablations do not affect the choice."""
    return terms_in_common(columns, is_model)


def mean(units: Sequence[Unit]) -> float | None:
    """Compute the mean of units, or of the means of their strata; None if there are no units."""
    return Units.from_units(units).mean()


def _cells(
    metrics: Sequence[Metric],
    parts: Mapping[str, Mapping[tuple[str, str], Observations]],
) -> Iterator[tuple[ScoreKey, WeightedTerms]]:
    """Yield the key and the terms of every score; `parts` has each model's observations by subset."""
    counting = {
        (model, subset): (floored(part), judged_only(part))
        for model, of_subsets in parts.items()
        for subset, part in of_subsets.items()
    }
    for place, metric in enumerate(metrics):
        both = {model: _in_both_forms(metric, *counting[model, ALL]) for model in parts}
        for number, form in enumerate(("floor", "judged")):
            columns = {model: of_model[number] for model, of_model in both.items()}
            for model, terms in columns.items():
                yield ScoreKey(metric, place, form, ALL, model), terms
        # Here `columns` are those of the last form, `judged`.
        for model, terms in in_common(columns).items():
            yield ScoreKey(metric, place, "common", ALL, model), terms
        if metric.aggregation != "micro":
            continue
        for (model, subset), of_part in counting.items():
            if subset != ALL and not (metric.of_whole_items and subset[0] in TURN_LABELS):
                floor, judged = _in_both_forms(metric, *of_part)
                yield ScoreKey(metric, place, "floor", subset, model), floor
                yield ScoreKey(metric, place, "judged", subset, model), judged


def _of_all_items(
    metrics: Sequence[Metric], every: Mapping[str, Observations]
) -> Iterator[tuple[ScoreKey, WeightedTerms]]:
    for model, observations in every.items():
        counting = floored(observations, (*BY_THE_MODEL, NO_PICTURE))
        for place, metric in enumerate(metrics):
            yield (
                ScoreKey(metric, place, ALL_ITEMS, ALL, model),
                terms_of(metric, counting, "floor"),
            )


def _in_both_forms(
    metric: Metric, floor: Observations, judged: Observations
) -> tuple[WeightedTerms, WeightedTerms]:
    terms = terms_of(metric, floor, "floor")
    # If nothing failed, both forms are the same.
    return terms, terms if len(judged) == len(floor) else terms_of(metric, judged, "judged")


def by_subset(
    observations: Observations, split: Collection[tuple[str, str]]
) -> dict[tuple[str, str], Observations]:
    """Split a model's observations by subset.

    Args:
        observations: The observations.
        split: The subsets (label, value) to split by.

    Returns:
        The observations of each of these subsets, without empty ones.
    """
    labels = observations.column("labels")
    of_subset: dict[tuple[str, str], list[int]] = {}
    for number in np.unique(labels).tolist():
        for subset in observations.names.labels[number].items():
            if subset in split:
                of_subset.setdefault(subset, []).append(number)
    return {
        subset: observations.take(np.isin(labels, of_subset[subset]))
        for subset in sorted(of_subset)
    }
