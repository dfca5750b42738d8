"""Figures of a task map (a plane and a dendrogram), and the table of its clusters."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from extras.task_map.methods.clustering import TaskMap, leaves, stress, tree_of
from resources.reports import figures
from resources.reports.figures import COLUMN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE = 0.22
"""Height of one task in the tree, in inches."""
MOST_NAME = 30


class TaskCluster(NamedTuple):
    """A row of the table of clusters; `within` is the mean distance of its tasks, or a dash."""

    number: int
    colour: str
    tasks: list[str]
    within: str
    score: str


class TaskMapPlot(NamedTuple):
    """A task map, rendered for an HTML page."""

    plane: Markup
    tree: Markup
    clusters: list[TaskCluster]
    stress: str


def picture_of(
    task_map: TaskMap, scores: Mapping[str, float] | None = None, decimals: int = 1
) -> TaskMapPlot:
    """Render the figures and the table of a map.

    Args:
        task_map: The map.
        scores: The scores of tasks, which are shown next to their names.
        decimals: The number of decimals of a score.
    """
    order = leaves(task_map.distances)
    facts = {name: f"  {score:.{decimals}f}" for name, score in (scores or {}).items()}
    of_map = f"{len(task_map.tasks)} tasks in {len(set(task_map.clusters))} clusters"
    return TaskMapPlot(
        figures.inline_svg(plane_figure(task_map, order), f"Map of {of_map}"),
        figures.inline_svg(tree_figure(task_map, order, facts), f"Tree of {of_map}"),
        [_cluster(task_map, number, scores, decimals) for number in sorted(set(task_map.clusters))],
        f"{stress(task_map.distances, task_map.places):.2f}",
    )


def plane_figure(task_map: TaskMap, order: Sequence[int]) -> "Figure":
    """Draw the tasks on a plane with equal scales.

    Args:
        task_map: The map.
        order: The order in which tasks are numbered.
    """
    figure = figures.new_figure(COLUMN, 0.75 * COLUMN)
    axes = figure.add_subplot(aspect="equal")
    axes.set_axis_off()
    axes.margins(0.08)
    marks = axes.scatter(
        task_map.places[order, 0],
        task_map.places[order, 1],
        s=170,
        c="#ffffff",
        edgecolors=[_colour(task_map.clusters[place]) for place in order],
        linewidths=1.8,
    )
    names = (task_map.tasks[place] for place in order)
    figures.label_marks(marks, (f"{number} {name}" for number, name in enumerate(names, start=1)))
    for number, place in enumerate(order, start=1):
        axes.annotate(
            str(number),
            task_map.places[place],
            ha="center",
            va="center",
            fontsize=figures.PRINT_TEXT,
            color=figures.INK,
        )
    return figure


def tree_figure(task_map: TaskMap, order: Sequence[int], facts: Mapping[str, str]) -> "Figure":
    """Draw the dendrogram, the first task of `order` at the top, in the colours of clusters."""
    from scipy.cluster.hierarchy import dendrogram

    tree = tree_of(task_map.distances)
    # The cluster of each task, then of each branch; 0 for a branch of several clusters.
    clusters = list(task_map.clusters)
    for first, second, *_ in tree.astype(int):
        clusters.append(clusters[first] if clusters[first] == clusters[second] else 0)
    figure = figures.new_figure(COLUMN, 0.5 + LINE * len(order))
    axes = figure.add_subplot()
    numbers = {place: number for number, place in enumerate(order, start=1)}
    dendrogram(
        tree,
        ax=axes,
        orientation="right",
        labels=[
            f"{numbers[place]}  {figures.cut(name, MOST_NAME)}{facts.get(name, '')}"
            for place, name in enumerate(task_map.tasks)
        ],
        leaf_font_size=figures.TEXT,
        link_color_func=lambda branch: _colour(clusters[branch]),
    )
    axes.invert_yaxis()
    axes.set_xlabel("mean distance")
    figures.style_axes(axes, "x")
    return figure


def _cluster(
    task_map: TaskMap, number: int, scores: Mapping[str, float] | None, decimals: int
) -> TaskCluster:
    places = [place for place, cluster in enumerate(task_map.clusters) if cluster == number]
    inside = [task_map.distances[pair] for pair in combinations(places, 2)]
    names = [task_map.tasks[place] for place in places]
    means = [scores[name] for name in names if name in scores] if scores else []
    return TaskCluster(
        number,
        figures.page_colour(_colour(number)),
        names,
        f"{fmean(inside):.2f}" if inside else "–",
        f"{fmean(means):.{decimals}f}" if means else "–",
    )


def _colour(cluster: int) -> str:
    """The colour of a cluster; grey for 0, a branch of several clusters."""
    return figures.PALETTE[(cluster - 1) % len(figures.PALETTE)] if cluster else figures.OTHER
