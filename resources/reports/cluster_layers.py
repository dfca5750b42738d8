"""The data that all plots of the clustering share.

What belongs here: points, groups with their colours, size bars. What does not: plotting them
(`cluster_plots.py` as PNG, `cluster_page.py` as HTML, `word_cloud.py` for categories).
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from resources.reports.figures import PALETTE

OTHERS = "#8b96a1"
"""The colour of all groups beyond the largest, each of which has one of the palette."""
NO_GROUP = "#b9c0c7"
"""The colour of entries in no group."""
FEW_POINTS = 1500
"""If there are more points, they are smaller."""
MAX_SINGLE_SIZE = 20
"""Each size up to the largest set (MMDU 2.2) has its own bar; larger sizes share bars."""


class Point(NamedTuple):
    """One entry on the map; None if it is in no group or no cluster."""

    x: float
    y: float
    title: str
    caption: str
    image_id: str
    group_id: str | None
    group_title: str | None
    cluster_id: str | None
    cluster_title: str | None
    cluster_size: int | None
    similarity: float | None
    is_centre: bool


class Layer(NamedTuple):
    """The numbers of points with the same colour and name in the legend."""

    name: str
    colour: str
    numbers: list[int]


def layers(points: Sequence[Point]) -> list[Layer]:
    """Points by group: the largest groups, then all smaller groups together, then entries in no group.

    A group has the title of its centre's page.
    """
    counts = Counter(point.group_id for point in points if point.group_id)
    largest = sorted(counts, key=lambda group: (-counts[group], group))[: len(PALETTE)]
    names = {point.group_id: point.group_title or "" for point in points}
    smaller = counts.keys() - set(largest)
    of_groups = [
        Layer(names[group], colour, _in_groups(points, {group}))
        for group, colour in zip(largest, PALETTE, strict=False)
    ]
    if smaller:
        plural = "" if len(smaller) == 1 else "s"
        name = f"{len(smaller)} smaller group{plural}"
        of_groups.append(Layer(name, OTHERS, _in_groups(points, smaller)))
    ungrouped = _in_groups(points, {None})
    return [*of_groups, Layer("in no group", NO_GROUP, ungrouped)] if ungrouped else of_groups


def _in_groups(points: Sequence[Point], groups: "set[str] | set[None]") -> list[int]:
    return [number for number, point in enumerate(points) if point.group_id in groups]


def size_bars(sizes: Sequence[int]) -> list[tuple[str, int]]:
    """(label, number of clusters): each size up to 20, then 21-40, 41-80 and so on."""
    if not sizes:
        return []
    bars = [
        (str(size), sum(other == size for other in sizes))
        for size in range(min(*sizes, MAX_SINGLE_SIZE), min(max(sizes), MAX_SINGLE_SIZE) + 1)
    ]
    low = MAX_SINGLE_SIZE + 1
    while low <= max(sizes):
        high = 2 * (low - 1)
        bars.append((f"{low}–{high}", sum(low <= size <= high for size in sizes)))
        low = high + 1
    return bars
