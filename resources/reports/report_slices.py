"""Slices of a report: scores of the parts of a release, by label and value.

What belongs here: the order of values, and what stands in each cell. The labels are those of items and
`methods/evaluation/slices.py`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from resources.reports.estimate import Estimate
from resources.reports.report_scores import FLOOR, Judged, MetricShown, Row, Who, estimate_of

_NUMBER = re.compile(r"\d+")


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


def slices_of(judged: Judged, models: Sequence[Who]) -> Slices | None:
    """The slices of the first metric that has any, of models alone; None where none has."""
    models = [who for who in models if who.is_model]
    for metric in judged.metrics:
        rows = [
            row
            for row in judged.parts
            if (row["metric"], row["aggregation"], row["form"]) == (*metric.key, FLOOR)
        ]
        if rows:
            labels = dict.fromkeys(row["subset_label"] for row in rows)
            return Slices(
                metric,
                models,
                [
                    (
                        label,
                        _slices([r for r in rows if r["subset_label"] == label], metric, models),
                    )
                    for label in labels
                ],
            )
    return None


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
    """The order of numbers and of ranges such as `3-5` and `over 10`, then of words."""
    number = _NUMBER.search(value)
    if number is None or (number.start() and not value.startswith("over ")):
        return True, 0, value
    return False, int(number[0]) + value.startswith("over "), value
