"""The page and the CSV of a task map from weights."""

import csv
import io
from typing import NamedTuple

import numpy as np

from extras.task_map.methods.clustering import LINKAGE, TaskMap
from extras.task_map.resources.picture import picture_of
from methods.spreadsheet_cells import mark_formula
from resources.reports.page import render_page


class TaskNeighbours(NamedTuple):
    """The nearest and the farthest task of one, and their distances."""

    task: str
    nearest: str
    least: str
    farthest: str
    most: str


def render_task_map(task_map: TaskMap, kind: str, folder: str, generated: str) -> str:
    """Render the page of a task map.

    Args:
        task_map: The map.
        kind: What the vectors are.
        folder: The folder they are from.
        generated: The time.

    Returns:
        The HTML.
    """
    return render_page(
        "task_map.html",
        nav_name="task map",
        picture=picture_of(task_map),
        near=[_near(task_map, place) for place in range(len(task_map.tasks))],
        kind=kind,
        folder=folder,
        generated=generated,
    )


def task_map_csv(task_map: TaskMap) -> str:
    """A line a task: cluster, place on the picture, linkage, and its distance to every task."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(
        [
            "task",
            "cluster",
            "x",
            "y",
            "linkage",
            *(f"distance to {task}" for task in task_map.tasks),
        ]
    )
    for place, task in enumerate(task_map.tasks):
        numbers = [*task_map.places[place], *task_map.distances[place]]
        x, y, *distances = (f"{number:.6f}" for number in numbers)
        lines.writerow([mark_formula(task), task_map.clusters[place], x, y, LINKAGE, *distances])
    return text.getvalue()


def _near(task_map: TaskMap, place: int) -> TaskNeighbours:
    others = np.delete(np.arange(len(task_map.tasks)), place)
    order = others[np.argsort(task_map.distances[place, others], kind="stable")]
    nearest, farthest = int(order[0]), int(order[-1])
    return TaskNeighbours(
        task_map.tasks[place],
        task_map.tasks[nearest],
        f"{task_map.distances[place, nearest]:.3f}",
        task_map.tasks[farthest],
        f"{task_map.distances[place, farthest]:.3f}",
    )
