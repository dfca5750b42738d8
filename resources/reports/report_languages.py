"""The section of a report on the same release in another language: what each model scores more in
which.

What belongs here: lines and cells of its tables, from rows of `evaluate.language_gaps`.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from resources.reports.estimate import Estimate
from resources.reports.report_pairs import TOO_FEW_CLUSTERS, Cell, cell_of
from resources.reports.report_scores import RULE, MetricShown, Row, metrics_of

_IN_WORDS = {"en": "English", "zh": "Chinese"}


class Line(NamedTuple):
    """One model: its scores in both languages by the metric that ranks, the difference of each metric.

    `reason` says why there is no difference.
    """

    model: str
    first: Estimate
    second: Estimate
    differences: list[Cell | None]
    n_units: int
    reason: str


class Part(NamedTuple):
    """The items with one value of a label: how many, and the difference of each model."""

    value: str
    n: int
    differences: list[Cell | None]


class LanguageGap(NamedTuple):
    """Two releases and what one judge says of their difference.

    `other` is the release that the page is not of; `counts` have what was left out.
    """

    other: str
    first: str
    second: str
    judge: str
    counts: Row
    metrics: list[MetricShown]
    lines: list[Line]
    parts: list[tuple[str, list[Part]]]

    @property
    def none_can_count(self) -> bool:
        """Whether there are too few items for any difference to count."""
        return max((line.n_units for line in self.lines), default=0) <= TOO_FEW_CLUSTERS


def gaps_of(data: Mapping[str, Any]) -> list[LanguageGap]:
    """One for each release in another language and each judge, in their order."""
    rows = data["language_gaps"]
    keys = ("first_release", "second_release", "judge", "judge_version")
    declared = data["benchmark"]["metrics"] if data["benchmark"] else []
    return [
        _gap(data["release"]["release_id"], declared, list(of))
        for _, of in groupby(rows, key=lambda row: tuple(row[key] for key in keys))
    ]


def _gap(release_id: str, declared: Sequence[Row], rows: Sequence[Row]) -> LanguageGap:
    first = rows[0]
    metrics = list(metrics_of(declared, rows))
    whole = {
        (row["model"], row["metric"], row["aggregation"]): row
        for row in rows
        if not row["subset_label"]
    }
    ranked = [row for (_, *key), row in whole.items() if tuple(key) == metrics[0].key]
    models = [row["model"] for row in ranked]
    labels: dict[str, dict[str, dict[str, Row]]] = {}
    for row in rows:
        if row["subset_label"] and (row["metric"], row["aggregation"]) == metrics[0].key:
            of_label = labels.setdefault(row["subset_label"], {})
            of_label.setdefault(row["subset_value"], {})[row["model"]] = row
    both = {first["first_release"], first["second_release"]}
    return LanguageGap(
        other=min(both - {release_id}),
        first=_in_words(first["first_language"]),
        second=_in_words(first["second_language"]),
        judge="" if first["judge"] == RULE else first["judge"],
        counts=ranked[0],
        metrics=metrics,
        lines=[_line(row, metrics, whole) for row in ranked],
        parts=[
            (label, [_part(value, of, models, metrics[0]) for value, of in values.items()])
            for label, values in labels.items()
        ],
    )


def _in_words(language: str) -> str:
    return _IN_WORDS.get(language, language)


def _line(
    row: Row, metrics: Sequence[MetricShown], whole: Mapping[tuple[str, str, str], Row]
) -> Line:
    scale = metrics[0].scale
    return Line(
        row["model"],
        Estimate(row["first_value"], scale=scale),
        Estimate(row["second_value"], scale=scale),
        [
            cell_of(whole[row["model"], *metric.key], metric)
            if (row["model"], *metric.key) in whole
            else None
            for metric in metrics
        ],
        row["n_units"],
        row["reason"] or "",
    )


def _part(value: str, of: Mapping[str, Row], models: Sequence[str], metric: MetricShown) -> Part:
    n_pairs = max(row["n_pairs"] for row in of.values())
    cells = [cell_of(of[model], metric) if model in of else None for model in models]
    return Part(value, n_pairs, cells)
