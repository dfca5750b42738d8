"""The task map section of a report: converts table rows to the content of the page, by judge."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from extras.task_map.methods.clustering import TaskMap
from extras.task_map.methods.profiles import FEW_MODELS
from extras.task_map.resources.picture import TaskMapPlot, picture_of
from resources.reports.page import render
from resources.reports.report_extras import ExtraSection
from resources.reports.report_input import Report
from resources.reports.report_leaderboard import JudgePane

TABLES = {
    "task_map": "judge, judge_version, place, task",
    "task_distances": "judge, judge_version, first, second",
}
"""The ORDER BY clause of each table."""
Row = Mapping[str, Any]


class TaskMapSection(NamedTuple):
    """The tasks of one judge, the hardest first, and the map, or the reason why there is none.

    `decimals` is the precision of scores; `few_models` marks maps of few models, whose correlations are
    noisy.
    """

    title: str
    label: str
    metric: str
    tasks: Sequence[Row]
    picture: TaskMapPlot | None
    why_no_map: str | None
    n_models: int
    few_models: bool
    decimals: int


def _html(data: Report, panes: Sequence[JudgePane]) -> Markup:
    maps = _task_maps(data["of_extras"], panes)
    return Markup(render("report_task_map.html", task_maps=maps) if maps else "")


def _finding(data: Report) -> str:
    rows = data["of_extras"]["task_map"]
    hardest = min(rows, key=lambda row: row["place"])
    return f"The hardest by {hardest['label']}: {hardest['task']}"


SECTION = ExtraSection("task-map", "Task map", ("task_map",), TABLES, _html, _finding)


def _task_maps(
    of_release: Mapping[str, Sequence[Row]], panes: Sequence[JudgePane]
) -> list[TaskMapSection]:
    """Build the maps of a release in the order of its judges; `of_release` has its table rows."""
    maps = []
    for pane in panes:
        key = pane.judged.judge, pane.judged.version
        rows, distances = (
            [row for row in of_release[table] if (row["judge"], row["judge_version"]) == key]
            for table in TABLES
        )
        if rows:
            maps.append(_shown(pane, rows, distances))
    return maps


def _shown(pane: JudgePane, rows: Sequence[Row], distances: Sequence[Row]) -> TaskMapSection:
    metric = rows[0]["metric"]
    scale = next(one.scale for one in pane.judged.shown_metrics if one.name == metric)
    task_map = _map_of(rows, distances)
    means = {row["task"]: row["mean_score"] for row in rows}
    n_models = max(row["n_models"] for row in rows)
    return TaskMapSection(
        pane.title,
        rows[0]["label"],
        metric,
        rows,
        picture_of(task_map, means, scale.decimals) if task_map else None,
        None if task_map else next(row["reason"] for row in reversed(rows)),
        n_models,
        n_models < FEW_MODELS,
        scale.decimals,
    )


def _map_of(rows: Sequence[Row], distances: Sequence[Row]) -> TaskMap | None:
    clustered = sorted((row for row in rows if row["cluster"]), key=lambda row: str(row["task"]))
    if not clustered:
        return None
    at = {row["task"]: place for place, row in enumerate(clustered)}
    square = np.zeros((len(clustered), len(clustered)))
    for row in distances:
        first, second = at[row["first"]], at[row["second"]]
        square[first, second] = square[second, first] = row["distance"]
    return TaskMap(
        tuple(at),
        square,
        tuple(row["cluster"] for row in clustered),
        np.array([[row["x"], row["y"]] for row in clustered]),
    )
