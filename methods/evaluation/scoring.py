"""From the observations of one judge to scores, comparisons and ranks; the same for every benchmark.

What belongs here: which units each score rests on. A score has three forms, so that a failure is never
a survivor's bonus: `floor` counts what the model failed as the lowest value, `judged` leaves it out,
`common` has the units on which every model was judged. What the judge failed is left out of all three.
The arithmetic is `statistics/`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from methods.evaluation.columns import Column, Columns
from methods.evaluation.contestants import is_model
from methods.evaluation.counts import counts_of
from methods.evaluation.judging import BY_THE_MODEL
from methods.evaluation.metrics import Metric, Scored, valued
from methods.evaluation.slices import TURN_LABELS, subsets
from methods.evaluation.statistics.resampling import N_RESAMPLES

ALL = ("", "")
"""The subset of everything."""


class Cell(NamedTuple):
    """What one score is of; `place` is that of the metric in its benchmark's list."""

    metric: Metric
    place: int
    form: str
    subset: tuple[str, str]
    model: str


def score_rows(
    metrics: Sequence[Metric],
    observed: Mapping[str, Sequence[Scored]],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> list[dict[str, Any]]:
    """One row for each metric, form, subset and model: value, interval, n_units, counts of turns.

    `observed` has each contestant's observations. Subsets are those of the labels of all observations;
    micro means and shares are split by them, in the forms `floor` and `judged`. Contestants that are no
    models do not decide what is common.
    """
    split = set(subsets([score.labels for scored in observed.values() for score in scored]))
    parts = {model: {ALL: scored, **by_subset(scored, split)} for model, scored in observed.items()}
    cells, columns = [], Columns()
    # The units of one cell at a time: those of all cells would fill the memory.
    for cell, units in _cells(metrics, parts):
        if units:
            cells.append((cell, len(units)))
            columns.add(units, cell.subset)
    estimates = columns.estimates(seed=seed, n_resamples=n_resamples)
    counts = {
        model: {subset: counts_of(part) for subset, part in of_subsets.items()}
        for model, of_subsets in parts.items()
    }
    rows = []
    for (cell, n_units), estimate in zip(cells, estimates, strict=True):
        ends = [end for end in (estimate.ci_low, estimate.ci_high) if end is not None]
        # The statistic may turn the ends round: that of a spread is its inverse.
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
                "n_units": n_units,
                **counts[cell.model][cell.subset],
            }
        )
    return rows


def floored(scored: Sequence[Scored]) -> list[Scored]:
    """The observations without those that the judge failed."""
    return [score for score in scored if score.value is not None or score.status in BY_THE_MODEL]


def judged_only(scored: Sequence[Scored]) -> list[Scored]:
    """The observations that have a value."""
    return [score for score in scored if score.value is not None]


def in_form(scored: Sequence[Scored], form: str) -> list[Scored]:
    """The observations that count in the form `floor` or `judged`."""
    return floored(scored) if form == "floor" else judged_only(scored)


def units_of(metric: Metric, counting: Sequence[Scored], form: str) -> Column:
    """The units with a value, of one model's observations that count in the form."""
    return valued(metric.units(counting, floor=form == "floor"))


def in_common(columns: Mapping[str, Column]) -> dict[str, Column]:
    """The units of each contestant whose keys every model has that has any; who is no model decides
    nothing."""
    keys = [
        {unit.key for unit in units}
        for model, units in columns.items()
        if units and is_model(model)
    ]
    shared = set.intersection(*keys) if keys else set()
    return {
        model: [unit for unit in units if unit.key in shared] for model, units in columns.items()
    }


def mean(units: Column) -> float | None:
    """The mean of the units, or of the means of their strata; None where there are none."""
    strata: dict[str, list[float]] = {}
    for unit in units:
        if unit.value is not None:
            strata.setdefault(unit.stratum, []).append(unit.value)
    return fmean(fmean(values) for values in strata.values()) if strata else None


def _cells(
    metrics: Sequence[Metric],
    parts: Mapping[str, Mapping[tuple[str, str], Sequence[Scored]]],
) -> Iterator[tuple[Cell, Column]]:
    """The columns of every score; `parts` are each model's observations by subset."""
    counting = {
        (model, subset, form): in_form(part, form)
        for model, of_subsets in parts.items()
        for subset, part in of_subsets.items()
        for form in ("floor", "judged")
    }
    for place, metric in enumerate(metrics):
        for form in ("floor", "judged"):
            columns = {model: units_of(metric, counting[model, ALL, form], form) for model in parts}
            for model, units in columns.items():
                yield Cell(metric, place, form, ALL, model), units
        # What is judged, of the last form.
        for model, units in in_common(columns).items():
            yield Cell(metric, place, "common", ALL, model), units
        if metric.aggregation != "micro":
            continue
        for (model, subset, form), of_part in counting.items():
            if subset != ALL and not (metric.of_whole_items and subset[0] in TURN_LABELS):
                yield Cell(metric, place, form, subset, model), units_of(metric, of_part, form)


def by_subset(
    scored: Sequence[Scored], split: Collection[tuple[str, str]]
) -> dict[tuple[str, str], list[Scored]]:
    """A model's observations by those subsets (label, value) of `split` that it has any of."""
    parts: dict[tuple[str, str], list[Scored]] = {}
    for score in scored:
        for subset in score.labels.items():
            if subset in split:
                parts.setdefault(subset, []).append(score)
    return dict(sorted(parts.items()))
