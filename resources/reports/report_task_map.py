"""The task map of a report: from the rows of the tables to what the page shows of it, by judge.

What belongs here: which rows are one map. Where its parts stand is `task_map_picture.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from methods.evaluation.task_map.clustering import TaskMap
from methods.evaluation.task_map.profiles import FEW_MODELS
from resources.reports.report_board import Pane
from resources.reports.task_map_picture import Picture, picture_of

Row = Mapping[str, Any]


class TaskMapShown(NamedTuple):
    """The tasks of one judge, the hardest first, and the map; None, and why, where there is none.

    `decimals` are those of scores; `few_models` says that chance has much to say.
    """

    title: str
    label: str
    metric: str
    tasks: Sequence[Row]
    picture: Picture | None
    why_no_map: str | None
    n_models: int
    few_models: bool
    decimals: int


def task_maps_of(data: Row, panes: Sequence[Pane]) -> list[TaskMapShown]:
    """The maps of a release in the order of its judges; `data` is that of `render_report`."""
    maps = []
    for pane in panes:
        key = pane.judged.judge, pane.judged.version
        rows, distances = (
            [row for row in data[table] if (row["judge"], row["judge_version"]) == key]
            for table in ("task_map", "task_distances")
        )
        if rows:
            maps.append(_shown(pane, rows, distances))
    return maps


def _shown(pane: Pane, rows: Sequence[Row], distances: Sequence[Row]) -> TaskMapShown:
    metric = rows[0]["metric"]
    scale = next(each.scale for each in pane.judged.metrics if each.name == metric)
    made = _map_of(rows, distances)
    means = {row["task"]: row["mean_score"] for row in rows}
    n_models = max(row["n_models"] for row in rows)
    return TaskMapShown(
        pane.title,
        rows[0]["label"],
        metric,
        rows,
        picture_of(made, means, scale.decimals) if made else None,
        None if made else next(row["reason"] for row in reversed(rows)),
        n_models,
        n_models < FEW_MODELS,
        scale.decimals,
    )


def _map_of(rows: Sequence[Row], distances: Sequence[Row]) -> TaskMap | None:
    placed = sorted((row for row in rows if row["cluster"]), key=lambda row: str(row["task"]))
    if not placed:
        return None
    at = {row["task"]: place for place, row in enumerate(placed)}
    square = np.zeros((len(placed), len(placed)))
    for row in distances:
        first, second = at[row["first"]], at[row["second"]]
        square[first, second] = square[second, first] = row["distance"]
    return TaskMap(
        tuple(at),
        square,
        tuple(row["cluster"] for row in placed),
        np.array([[row["x"], row["y"]] for row in placed]),
    )
