"""Plots of the clustering: their data, the PNG images of map and sizes, the word cloud of categories.

What belongs here: points, groups with their colours, size bars, and the plots that Dagster's UI shows
with an asset. The interactive plots are in `cluster_page.py`. The cloud is MMDU's Figure 11: words,
sizes and font are chosen here, and the package wordcloud renders them.
"""

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from resources.reports.figures import (
    INK,
    PALETTE,
    SOFT,
    TEXT,
    can_draw,
    cut,
    drawable,
    font_for,
    new_figure,
    png,
    set_title,
    style_axes,
)

if TYPE_CHECKING:
    from matplotlib.lines import Line2D


SIZE = (1200, 480)
"""Pixels."""
MAX_WORDS = 120
MAX_WORD_CHARACTERS = 60


class Cloud(NamedTuple):
    """The image as PNG, and the words left out because the font lacks their characters."""

    png: bytes
    n_shown: int
    unreadable: list[str]


def category_cloud(counts: Mapping[str, int], seed: int = 0) -> Cloud | None:
    """Categories sized by their number of entries; None if no category can be rendered.

    Deterministic for counts, seed and fonts. Long names are cut.
    """
    from wordcloud import WordCloud

    words: Counter[str] = Counter()
    for category, n_entries in counts.items():
        words[cut(" ".join(category.split()), MAX_WORD_CHARACTERS)] += n_entries
    del words[""]
    font = font_for(words)
    unreadable = sorted(word for word in words if not can_draw(font, word))
    for word in unreadable:
        del words[word]
    if not words:
        return None
    shown = dict(sorted(words.items(), key=lambda item: (-item[1], item[0]))[:MAX_WORDS])
    colours = dict(zip(shown, PALETTE[:4] * len(shown), strict=False))
    cloud = WordCloud(
        width=SIZE[0],
        height=SIZE[1],
        font_path=font,
        background_color="white",
        max_words=MAX_WORDS,
        max_font_size=64,
        min_font_size=11,
        prefer_horizontal=1.0,
        relative_scaling=0.4,
        margin=4,
        random_state=seed,
        color_func=lambda word, **_: colours[word],
    ).generate_from_frequencies(shown)
    buffer = io.BytesIO()
    cloud.to_image().save(buffer, "PNG", optimize=True)
    return Cloud(buffer.getvalue(), len(cloud.layout_), unreadable)


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


MAX_CHARACTERS = 30


def map_png(points: Sequence[Point]) -> bytes:
    """The map: entries coloured by group; centres of clusters have a ring."""
    from matplotlib.font_manager import FontProperties

    figure = new_figure(9, 5.4)
    axes = figure.add_subplot()
    set_title(axes, "Entries by categories and caption: near ones are alike")
    axes.set_axis_off()
    # Marker area in square points.
    dot = 16 if len(points) <= FEW_POINTS else 5
    for layer in reversed(layers(points)):
        # Clustered entries on top of the others.
        for clustered in (False, True):
            chosen = [points[i] for i in layer.numbers if bool(points[i].cluster_id) == clustered]
            axes.scatter(
                [point.x for point in chosen],
                [point.y for point in chosen],
                s=[2.8 * dot if point.is_centre else dot for point in chosen],
                c=layer.colour,
                alpha=0.9 if clustered else 0.35,
                edgecolors=INK,
                linewidths=[0.9 if point.is_centre else 0 for point in chosen],
            )
    named = layers(points)
    font = font_for(layer.name for layer in named)
    legend = figure.legend(
        [_dot(layer.colour) for layer in named],
        [
            drawable(font, f"{cut(layer.name, MAX_CHARACTERS)} ({len(layer.numbers)})")
            for layer in named
        ],
        loc="outside right upper",
        frameon=False,
        prop=FontProperties(fname=font, size=TEXT),
        labelcolor=INK,
        title="group (entries)",
        title_fontsize=TEXT,
        alignment="left",
    )
    legend.get_title().set_color(SOFT)
    return png(figure)


def sizes_png(sizes: Sequence[int]) -> bytes:
    """The distribution of cluster sizes, as bars."""
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(9, 2.8)
    axes = figure.add_subplot()
    bars = size_bars(sizes)
    drawn = axes.bar([label for label, _ in bars], [n for _, n in bars], color=PALETTE[0])
    axes.bar_label(drawn, labels=[str(n or "") for _, n in bars], color=SOFT, fontsize=TEXT)
    set_title(axes, "Sizes of clusters")
    axes.set_xlabel("entries in a cluster")
    axes.set_ylabel("clusters")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    style_axes(axes, "y")
    return png(figure)


def _dot(colour: str) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D([], [], marker="o", linestyle="none", color=colour, markersize=6)
