"""The page of the clustering: one self-contained HTML file of the site.

`templates/clusters.js` hides groups, moves the map and shows the entry of a dot. Titles and captions
are untrusted: the template escapes them, or they are in JSON in which "<" is escaped.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from methods.naming import number_of
from resources.images.store import ImageStore
from resources.reports import figures
from resources.reports.figures import NO_GROUP, OTHER, PALETTE, cut, inline_svg, page_colour
from resources.reports.page import TEMPLATES, render_page
from resources.reports.report_input import Row
from resources.reports.report_shape import BarChart, bars_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_THUMBNAILS = 2000
"""At most this many points have a thumbnail: each makes the page about 4 kB larger."""
THUMBNAIL_SIDE = 112
MAX_CAPTION = 280
MAX_SINGLE_SIZE = 20
"""Each size up to the largest set (MMDU 2.2) has its own bar; larger sizes share bars."""
MAX_CATEGORIES = 40
"""The chart shows this many categories, the most frequent ones."""
FEW_DOTS = 1500
"""A map with more dots than this draws them smaller."""
DOTS = {"loose": (1.0, 0.35, 0.0), "clustered": (1.0, 0.9, 0.0), "centre": (2.8, 0.9, 0.9)}
"""Kind of dot -> (area, opacity, width of its ring). Later kinds are drawn on top."""
MAP_WIDTH = 7.0
"""Width of the map on the page, in inches."""


class MapPoint(NamedTuple):
    """One entry on the map. The fields of its group or cluster are None if it is in none."""

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

    @property
    def kind(self) -> str:
        """One of `DOTS`."""
        return "centre" if self.is_centre else "clustered" if self.cluster_id else "loose"


class MapLayer(NamedTuple):
    """Dots with one colour and one name in the legend; `numbers` are the indexes of the entries."""

    name: str
    colour: str
    numbers: Sequence[int]


class ClusterPageInput(NamedTuple):
    """The page's content. `shape` counts all entries, `points` are the entries on the map.

    `categories` has the number of entries of each category, the most frequent first.
    """

    shape: Row
    points: Sequence[MapPoint]
    sizes: Sequence[int]
    near_pairs: Sequence[Row]
    loosest: Sequence[Row]
    categories: Mapping[str, int]


class ClusterPage(NamedTuple):
    """The page's HTML, and how many of its points have a thumbnail."""

    html: str
    n_thumbnails: int


def render_clusters(clustering: ClusterPageInput, image_store: ImageStore) -> ClusterPage:
    """Render the page. Missing images are left out.

    Args:
        clustering: The data of the page.
        image_store: The image store.

    Raises:
        ImageDamaged: The file of an image is damaged.
    """
    points = clustering.points
    thumbnails = [_thumbnail(point.image_id, image_store) for point in points[:MAX_THUMBNAILS]]
    of_map = layers(points)
    figure = map_figure(points, of_map, MAP_WIDTH)
    html = render_page(
        "clusters.html",
        nav_name="corpus",
        root="../",
        own_script=(TEMPLATES / "clusters.js").read_text(encoding="utf-8"),
        shape=clustering.shape,
        n_points=len(points),
        max_thumbnails=MAX_THUMBNAILS,
        n_thumbnails=len(thumbnails),
        map=inline_svg(figure, f"Map of {len(points)} entries") if points else None,
        layers=[layer._replace(colour=page_colour(layer.colour)) for layer in of_map],
        # JSON for the script.
        points=_data([_about(point) for point in points]),
        thumbnails=_data(thumbnails),
        groups=_data([layer.numbers for layer in of_map]),
        sizes=sizes_chart(clustering.sizes),
        categories=categories_chart(clustering.categories),
        near_pairs=[
            {
                **pair,
                "picture_a": _thumbnail(pair["image_a"], image_store),
                "picture_b": _thumbnail(pair["image_b"], image_store),
            }
            for pair in clustering.near_pairs
        ],
        loosest=[
            {**cluster, "picture": _thumbnail(cluster["image_id"], image_store)}
            for cluster in clustering.loosest
        ],
    )
    return ClusterPage(html, sum(thumbnail is not None for thumbnail in thumbnails))


def map_figure(points: Sequence[MapPoint], layers: Sequence[MapLayer], width: float) -> "Figure":
    """Plot entries on a plane, coloured by layer. The first layer is on top.

    Args:
        points: The entries.
        layers: The layers. Each mark of the SVG carries the index of its entry (`data-n`).
        width: Width in inches.
    """
    figure = figures.new_figure(width, 0.6 * width)
    axes = figure.add_subplot()
    axes.set_axis_off()
    area = (16 if len(points) <= FEW_DOTS else 5) * width / 9
    for layer in reversed(layers):
        for kind, (size, opacity, ring) in DOTS.items():
            numbers = [number for number in layer.numbers if points[number].kind == kind]
            if numbers:
                marks = axes.scatter(
                    [points[number].x for number in numbers],
                    [points[number].y for number in numbers],
                    s=size * area,
                    c=layer.colour,
                    alpha=opacity,
                    edgecolors=figures.INK,
                    linewidths=ring,
                )
                figures.label_marks(marks, numbers, "data-n")
    return figure


def layers(points: Sequence[MapPoint]) -> list[MapLayer]:
    """Split the points into layers by group.

    Each of the largest groups is a layer, titled with its centre's Wikipedia page. Then follow one
    layer for all smaller groups and one for entries in no group.
    """
    counts = Counter(point.group_id for point in points if point.group_id)
    largest = sorted(counts, key=lambda group: (-counts[group], group))[: len(PALETTE)]
    names = {point.group_id: point.group_title or "" for point in points}
    smaller = counts.keys() - set(largest)
    of_groups = [
        MapLayer(names[group], colour, _in_groups(points, {group}))
        for group, colour in zip(largest, PALETTE, strict=False)
    ]
    if smaller:
        name = number_of(len(smaller), "smaller group")
        of_groups.append(MapLayer(name, OTHER, _in_groups(points, smaller)))
    ungrouped = _in_groups(points, {None})
    return [*of_groups, MapLayer("in no group", NO_GROUP, ungrouped)] if ungrouped else of_groups


def _in_groups(points: Sequence[MapPoint], groups: "set[str] | set[None]") -> list[int]:
    return [number for number, point in enumerate(points) if point.group_id in groups]


def sizes_chart(sizes: Sequence[int]) -> BarChart | None:
    """Chart the number of clusters by size: 1 to 20, 21-40, 41-80 and so on; None without clusters."""
    if not sizes:
        return None
    bars = [
        (str(size), sum(other == size for other in sizes))
        for size in range(min(*sizes, MAX_SINGLE_SIZE), min(max(sizes), MAX_SINGLE_SIZE) + 1)
    ]
    low = MAX_SINGLE_SIZE + 1
    while low <= max(sizes):
        high = 2 * (low - 1)
        bars.append((f"{low}–{high}", sum(low <= size <= high for size in sizes)))
        low = high + 1
    note = number_of(len(sizes), "cluster")
    return BarChart("Sizes of clusters", note, bars_of(bars), "entries", "clusters")


def categories_chart(counts: Mapping[str, int]) -> BarChart | None:
    """Make the chart of the most frequent categories (MMDU, Figure 11); None without categories."""
    named = {name: n for name, n in counts.items() if name.strip()}
    if not named:
        return None
    most = sorted(named.items(), key=lambda item: (-item[1], item[0]))[:MAX_CATEGORIES]
    note = f"the {len(most)} most frequent of {len(named)}"
    return BarChart("Categories", note, bars_of(most), "category", "entries")


def _about(point: MapPoint) -> list[object]:
    """Return the fields of a point's info card, in the order that `clusters.js` reads."""
    similarity = None if point.similarity is None else round(point.similarity, 3)
    return [
        point.title,
        cut(point.caption, MAX_CAPTION),
        point.group_title,
        point.cluster_title,
        point.cluster_size,
        similarity,
        point.is_centre,
    ]


def _thumbnail(image_id: str | None, image_store: ImageStore) -> str | None:
    """Return the image as a small JPEG in base64; None if it is not stored. Raises ImageDamaged."""
    return image_store.thumbnail_base64(image_id, THUMBNAIL_SIDE) if image_id else None


def _data(value: object) -> Markup:
    """Return JSON for a script element; "<" is escaped, so that no text can close the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))
