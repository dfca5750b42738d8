"""The HTML page and the CSV of a task map that was computed from the weights of models."""

from typing import NamedTuple

import numpy as np

from extras.task_map.methods.clustering import LINKAGE, TaskMap
from extras.task_map.resources.picture import picture_of
from methods.delimited import csv_line
from methods.spreadsheet_cells import mark_formula
from resources.reports.page import render_page


class TaskNeighbours(NamedTuple):
    """A task with the nearest and the farthest other task, and their distances."""

    task: str
    nearest: str
    least: str
    farthest: str
    most: str


def render_task_map(task_map: TaskMap, kind: str, folder: str, generated: str) -> str:
    """Render the HTML page of a task map.

    Args:
        task_map: The map.
        kind: The type of the files that the vectors are from.
        folder: The folder of these files.
        generated: The time of rendering.
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
    """Write a CSV line for each task: cluster, position on the map, linkage, distance to every task."""
    distances_to = (f"distance to {task}" for task in task_map.tasks)
    lines = [csv_line(["task", "cluster", "x", "y", "linkage", *distances_to])]
    for place, task in enumerate(task_map.tasks):
        numbers = [*task_map.places[place], *task_map.distances[place]]
        x, y, *distances = (f"{number:.6f}" for number in numbers)
        cells = [mark_formula(task), task_map.clusters[place], x, y, LINKAGE, *distances]
        lines.append(csv_line(cells))
    return "".join(lines)


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
