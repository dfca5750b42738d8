"""Where everything on a task map stands: dots of the picture, branches and leaves of the dendrogram.

What belongs here: places, in percent, so that a picture is as wide as there is room. Pages draw it by
`templates/task_map_macros.html`.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

import numpy as np

from extras.task_map.methods.clustering import Floats, TaskMap, leaves, merges, stress
from resources.reports.figures import PALETTE

HEIGHT = 0.75
"""Of the picture, in its widths: the templates have the same."""
MARGIN = 6.0
"""Percent of the width around the outermost dots."""


class Task(NamedTuple):
    """A task: its number down the dendrogram, its colour, and its place in percent from left and top.

    `fact` is what stands beside its name.
    """

    number: int
    name: str
    fact: str
    cluster: int
    colour: str
    left: float
    top: float


class Branch(NamedTuple):
    """One step of the clustering as a path: percent across, rows down; no colour across clusters."""

    path: str
    colour: str | None


class Cluster(NamedTuple):
    """A line of the table of clusters; `within` is the mean distance inside, None of one task."""

    number: int
    colour: str
    tasks: list[str]
    within: str
    score: str


class Picture(NamedTuple):
    """A task map as a page shows it; `tasks` from the top of the dendrogram down."""

    tasks: list[Task]
    branches: list[Branch]
    largest: str
    clusters: list[Cluster]
    stress: str


def picture_of(
    made: TaskMap, scores: Mapping[str, float] | None = None, decimals: int = 1
) -> Picture:
    """The picture of a map; `scores`, where there are any, stand beside tasks with so many decimals."""
    shown = {name: f"{score:.{decimals}f}" for name, score in (scores or {}).items()}
    order = leaves(made.distances)
    left, top = _percent(made.places)
    tasks = [
        Task(
            number,
            made.tasks[place],
            shown.get(made.tasks[place], ""),
            made.clusters[place],
            _colour(made.clusters[place]),
            left[place],
            top[place],
        )
        for number, place in enumerate(order, start=1)
    ]
    branches, largest = _branches(made, order)
    return Picture(
        tasks,
        branches,
        f"{largest:.2f}",
        [_cluster(made, number, scores, decimals) for number in sorted(set(made.clusters))],
        f"{stress(made.distances, made.places):.2f}",
    )


def _percent(places: Floats) -> tuple[list[float], list[float]]:
    """Percent from left and from top, one scale for both: distances on the page are as on the map."""
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    spans = np.ptp(places, axis=0)
    # Percent of the width per unit, so that both directions fit.
    room = 100 - 2 * MARGIN
    limits = [room / spans[0] if spans[0] else np.inf, 0.0]
    limits[1] = (room * HEIGHT) / spans[1] if spans[1] else np.inf
    unit = min(limits) if np.isfinite(min(limits)) else 0.0
    across, up = ((places - middle) * unit).T
    return (
        [round(50 + float(value), 2) for value in across],
        [round(50 - float(value) / HEIGHT, 2) for value in up],
    )


def _branches(made: TaskMap, order: Sequence[int]) -> tuple[list[Branch], float]:
    """The paths, and the largest distance, which is at 100 percent."""
    # Middle of the row, distance and cluster of whatever has a number; 0 for several clusters.
    ends = {place: (row + 0.5, 0.0, made.clusters[place]) for row, place in enumerate(order)}
    steps = merges(made.distances)
    largest = max(step.distance for step in steps)
    unit = 100 / largest if largest else 0.0
    branches = []
    for number, step in enumerate(steps, start=len(order)):
        (row, at, cluster), (other_row, other_at, other_cluster) = (
            ends[step.first],
            ends[step.second],
        )
        across = round(step.distance * unit, 2)
        path = f"M{at * unit:.2f} {row}H{across}V{other_row}H{other_at * unit:.2f}"
        together = cluster if cluster == other_cluster else 0
        branches.append(Branch(path, _colour(together) if together else None))
        ends[number] = (row + other_row) / 2, step.distance, together
    return branches, largest


def _cluster(
    made: TaskMap, number: int, scores: Mapping[str, float] | None, decimals: int
) -> Cluster:
    places = [place for place, cluster in enumerate(made.clusters) if cluster == number]
    inside = [made.distances[pair] for pair in combinations(places, 2)]
    names = [made.tasks[place] for place in places]
    known = [scores[name] for name in names if name in scores] if scores else []
    return Cluster(
        number,
        _colour(number),
        names,
        f"{fmean(inside):.2f}" if inside else "–",
        f"{fmean(known):.{decimals}f}" if known else "–",
    )


def _colour(cluster: int) -> str:
    return PALETTE[(cluster - 1) % len(PALETTE)]
