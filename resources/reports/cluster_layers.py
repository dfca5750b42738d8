"""The data of the clustering's pictures: points, groups with their colours, bars of sizes.

What belongs here: what the static pictures (`cluster_plots.py`) and the page (`cluster_page.py`) both
draw. What does not: drawing.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from resources.reports.figures import PALETTE

OTHERS = "#8b96a1"
"""The colour of all groups beyond the largest, each of which has one of the palette."""
ALONE = "#b9c0c7"
"""The colour of entries in no group."""
FEW_POINTS = 1500
"""More of them are drawn smaller."""
SHOWN_SIZE = 20
"""Up to the largest set (MMDU 2.2) each size has a bar of its own; beyond, sizes share bars."""


class Point(NamedTuple):
    """One entry on the map; None where it is in no group or no cluster."""

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
    """Points of one colour, by their numbers, under one name in the legend."""

    name: str
    colour: str
    numbers: list[int]


def layers(points: Sequence[Point]) -> list[Layer]:
    """Points by group, the largest groups first, then all smaller ones, then those in none.

    A group is called after its centre's page.
    """
    counts = Counter(point.group_id for point in points if point.group_id)
    largest = sorted(counts, key=lambda group: (-counts[group], group))[: len(PALETTE)]
    names = {point.group_id: point.group_title or "" for point in points}
    smaller = counts.keys() - set(largest)
    made = [
        Layer(names[group], colour, _where(points, {group}))
        for group, colour in zip(largest, PALETTE, strict=False)
    ]
    if smaller:
        plural = "" if len(smaller) == 1 else "s"
        name = f"{len(smaller)} smaller group{plural}"
        made.append(Layer(name, OTHERS, _where(points, smaller)))
    alone = _where(points, {None})
    return [*made, Layer("in no group", ALONE, alone)] if alone else made


def _where(points: Sequence[Point], groups: "set[str] | set[None]") -> list[int]:
    return [number for number, point in enumerate(points) if point.group_id in groups]


def size_bars(sizes: Sequence[int]) -> list[tuple[str, int]]:
    """(size, how many clusters have it): each size up to 20, then 21-40, 41-80 and so on."""
    if not sizes:
        return []
    bars = [
        (str(size), sum(each == size for each in sizes))
        for size in range(min(*sizes, SHOWN_SIZE), min(max(sizes), SHOWN_SIZE) + 1)
    ]
    low = SHOWN_SIZE + 1
    while low <= max(sizes):
        high = 2 * (low - 1)
        bars.append((f"{low}–{high}", sum(low <= each <= high for each in sizes)))
        low = high + 1
    return bars
