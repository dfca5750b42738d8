"""Slices of a report: scores of the parts of a release, by label and value.

What belongs here: the order of values, and what stands in each cell. The labels are those of items and
`methods/evaluation/slices.py`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from resources.reports.estimate import Estimate
from resources.reports.report_scores import FLOOR, Judged, MetricShown, Row, Who, estimate_of

_NUMBER = re.compile(r"^(?:over )?(\d+)|\((\d+)[-)]")


class Slice(NamedTuple):
    """The scores on what has one value of a label, in the order of the models; `n` are its units."""

    value: str
    n: str
    scores: list[Estimate]


class Slices(NamedTuple):
    """The scores by label; `metric` is the one that they are of."""

    metric: MetricShown
    models: list[Who]
    labels: list[tuple[str, list[Slice]]]


def slices_of(judged: Judged, models: Sequence[Who], apart: Sequence[str] = ()) -> Slices | None:
    """The slices of the first metric that has any, of models alone; None where none has.

    The labels `apart` are shown elsewhere.
    """
    models = [who for who in models if who.is_model]
    metric = split_metric(judged)
    if metric is None:
        return None
    labels = [
        (label, slices)
        for label, slices in slices_by_label(judged, metric, models).items()
        if label not in apart
    ]
    return Slices(metric, models, labels) if labels else None


def split_metric(judged: Judged) -> MetricShown | None:
    """The first metric that has scores by label."""
    split = {(row["metric"], row["aggregation"]) for row in judged.parts if row["form"] == FLOOR}
    return next((metric for metric in judged.metrics if metric.key in split), None)


def slices_by_label(
    judged: Judged, metric: MetricShown, models: Sequence[Who]
) -> dict[str, list[Slice]]:
    """The scores of these models by a metric, by label."""
    rows: dict[str, list[Row]] = {}
    for row in judged.parts:
        if (row["metric"], row["aggregation"], row["form"]) == (*metric.key, FLOOR):
            rows.setdefault(row["subset_label"], []).append(row)
    return {label: _slices(of, metric, models) for label, of in rows.items()}


def _slices(rows: Sequence[Row], metric: MetricShown, models: Sequence[Who]) -> list[Slice]:
    by_value: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_value.setdefault(row["subset_value"], {})[row["model"]] = row
    slices = []
    for value in sorted(by_value, key=_natural):
        of = by_value[value]
        units = sorted({row["n_units"] for row in of.values()})
        slices.append(
            Slice(
                value,
                str(units[0]) if len(units) == 1 else f"{units[0]}–{units[-1]}",
                [
                    estimate_of(of[who.name], metric.scale)
                    if who.name in of
                    else Estimate(scale=metric.scale)
                    for who in models
                ],
            )
        )
    return slices


def _natural(value: str) -> tuple[bool, int, str]:
    """The order of numbers and of ranges such as `3-5`, `few (2-5)` and `over 10`, then of words."""
    number = _NUMBER.search(value)
    if number is None:
        return True, 0, value
    return False, int(number[1] or number[2]) + value.startswith("over "), value
