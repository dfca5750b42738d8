"""The section of a report on wordings: what each style costs a model, and the groups it is least steady
in.

What belongs here: cells and lines of its tables, from rows of `evaluate.wording_effects` and of the
groups whose ratings differ most.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from resources.reports.report_board import Pane
from resources.reports.report_pairs import TOO_FEW_CLUSTERS, Cell, cell_of
from resources.reports.report_scores import MetricShown, Row

_OF = ("judge", "judge_version")


class Style(NamedTuple):
    """One style: the groups and wordings that it was seen in, and its effect on each model."""

    name: str
    n_groups: int
    n_wordings: int
    effects: list[Cell | None]


class Group(NamedTuple):
    """One question of a model: its wordings from the worst to the best."""

    model: str
    group_id: str
    deviation: str
    wordings: list[Row]


class Wordings(NamedTuple):
    """What one judge's ratings say of wordings; `verdicts` are sentences on the effects that count."""

    title: str
    metric: MetricShown
    models: list[str]
    styles: list[Style]
    by_rule: bool
    verdicts: list[str]
    groups: list[tuple[str, list[Group]]]
    none_can_count: bool


def wordings_of(data: Mapping[str, Any], panes: Sequence[Pane]) -> list[Wordings]:
    """One for each judge that has rated groups, in the order of the leaderboards."""
    found = []
    for pane in panes:
        key = pane.judged.judge, pane.judged.version
        rows = [row for row in data["wording_effects"] if tuple(row[name] for name in _OF) == key]
        groups = [row for row in data["widest_groups"] if tuple(row[name] for name in _OF) == key]
        metric = next((each for each in pane.judged.metrics if each.aggregation == "micro"), None)
        if rows and metric:
            found.append(_wordings(pane, metric, rows, groups))
    return found


def _wordings(
    pane: Pane, metric: MetricShown, rows: Sequence[Row], groups: Sequence[Row]
) -> Wordings:
    models = [who.name for who in pane.order if any(row["model"] == who.name for row in rows)]
    by_style = {
        style: {row["model"]: row for row in of}
        for style, of in groupby(rows, key=lambda row: row["style"])
    }
    return Wordings(
        pane.title,
        metric,
        models,
        [
            Style(
                style,
                max(row["n_groups"] for row in of.values()),
                max(row["n_wordings"] for row in of.values()),
                [cell_of(of[model], metric) if model in of else None for model in models],
            )
            for style, of in by_style.items()
        ],
        rows[0]["told_by"] == "rule",
        [
            f"{row['model']}: {metric.name} {cell.difference} [{cell.interval}] where the wording is "
            f"{style}, {cell.p}."
            for style, of in by_style.items()
            for row in of.values()
            if (cell := cell_of(row, metric)) and cell.verdict
        ],
        [
            (
                model,
                [_group(metric, list(of)) for _, of in groupby(mine, key=lambda r: r["group_id"])],
            )
            for model in models
            if (mine := [row for row in groups if row["model"] == model])
        ],
        max(row["n_groups"] for row in rows) <= TOO_FEW_CLUSTERS,
    )


def _group(metric: MetricShown, rows: Sequence[Row]) -> Group:
    worst_first = sorted(rows, key=lambda row: (row["value"] is not None, row["value"] or 0.0))
    return Group(
        rows[0]["model"],
        rows[0]["group_id"],
        metric.scale.shown(rows[0]["deviation"]),
        [
            {
                **row,
                "shown": row["status"] or "no answer"
                if row["value"] is None
                else metric.scale.shown(row["value"]),
                "beside_mean": ""
                if row["value"] is None
                else metric.scale.difference(row["value"] - row["mean"]),
            }
            for row in worst_first
        ],
    )
