"""The page of the clustering: one self-contained HTML file.

What belongs here: plotly's figures, thumbnails and texts, from points and tables. What does not: the
page's layout (`templates/clusters.html`) and behaviour (`templates/clusters.js`). Titles and captions
are untrusted: they are escaped by the template, or are JSON that cannot close its element; the content
security policy allows only the page's two scripts, by their hashes.
"""

import base64
import html
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from resources.images.store import ImageStore
from resources.reports.cluster_plots import FEW_POINTS, Cloud, Point, layers, size_bars
from resources.reports.figures import INK, PALETTE, RULE, cut
from resources.reports.page import TEMPLATES, script_hash

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MAX_THUMBNAILS = 2000
"""At most this many points have a thumbnail; each makes the page about 4 kB larger."""
THUMBNAIL_SIDE = 112
MAX_CAPTION = 280
MAX_NAME = 34

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

Row = Mapping[str, Any]


class Clustering(NamedTuple):
    """The page's content. `shape` counts all entries, `points` are the entries on the map."""

    shape: Row
    points: Sequence[Point]
    sizes: Sequence[int]
    near_pairs: Sequence[Row]
    loosest: Sequence[Row]
    cloud: Cloud | None


class Page(NamedTuple):
    """The page's HTML, and how many of its points have a thumbnail."""

    html: str
    n_thumbnails: int


def render_page(clustering: Clustering, image_store: ImageStore) -> Page:
    """The page; images that are not stored are left out."""
    from plotly.offline import get_plotlyjs

    thumbnails = [
        _thumbnail(point.image_id, image_store) for point in clustering.points[:MAX_THUMBNAILS]
    ]
    scripts = [get_plotlyjs(), (TEMPLATES / "clusters.js").read_text()]
    text = _ENVIRONMENT.get_template("clusters.html").render(
        shape=clustering.shape,
        n_points=len(clustering.points),
        max_thumbnails=MAX_THUMBNAILS,
        n_thumbnails=len(thumbnails),
        points=_data([_about(point) for point in clustering.points]),
        thumbnails=_data(thumbnails),
        # Plotly's JSON escapes "<", too.
        map=map_figure(clustering.points).to_json(),
        sizes=sizes_figure(clustering.sizes).to_json() if clustering.sizes else None,
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
        cloud=clustering.cloud,
        cloud_png=base64.b64encode(clustering.cloud.png).decode() if clustering.cloud else None,
        scripts=scripts,
        hashes=[script_hash(script) for script in scripts],
    )
    return Page(text, sum(thumbnail is not None for thumbnail in thumbnails))


def map_figure(points: Sequence[Point]) -> "Figure":
    """The map: one trace for each colour; each point has its number as `customdata`."""
    from plotly.graph_objects import Figure, Scatter

    dot = 7 if len(points) <= FEW_POINTS else 4
    traces = []
    # The last trace is on top.
    for layer in reversed(layers(points)):
        chosen = [points[i] for i in layer.numbers]
        traces.append(
            Scatter(
                legendgroup=layer.colour,
                showlegend=False,
                x=[round(point.x, 2) for point in chosen],
                y=[round(point.y, 2) for point in chosen],
                customdata=layer.numbers,
                mode="markers",
                # The page shows its own card on hover, with the image.
                hoverinfo="none",
                marker={
                    "color": layer.colour,
                    "size": [1.6 * dot if point.is_centre else dot for point in chosen],
                    "opacity": [0.9 if point.cluster_id else 0.4 for point in chosen],
                    "line": {
                        "color": INK,
                        "width": [1.4 if point.is_centre else 0 for point in chosen],
                    },
                },
            )
        )
        # A legend entry looks like its trace's first point, so the legend has traces without points.
        traces.append(
            Scatter(
                name=f"{html.escape(cut(layer.name, MAX_NAME))} ({len(layer.numbers)})",
                legendgroup=layer.colour,
                x=[None],
                y=[None],
                mode="markers",
                marker={"color": layer.colour, "size": 9},
            )
        )
    hidden = {"visible": False, "fixedrange": False}
    return Figure(
        traces,
        {
            **_LAYOUT,
            "xaxis": hidden,
            "yaxis": hidden,
            "hovermode": "closest",
            "hoverdistance": 12,
            "dragmode": "pan",
            "margin": {"l": 8, "r": 8, "t": 34, "b": 8},
            "legend": {
                "orientation": "h",
                "traceorder": "reversed",
                "itemsizing": "constant",
                "y": -0.02,
                "yanchor": "top",
                "x": 0,
            },
        },
    )


def sizes_figure(sizes: Sequence[int]) -> "Figure":
    """The distribution of cluster sizes, as bars."""
    from plotly.graph_objects import Bar, Figure

    bars = size_bars(sizes)
    counts = [n for _, n in bars]
    return Figure(
        [
            Bar(
                x=[label for label, _ in bars],
                y=counts,
                text=[str(n or "") for n in counts],
                textposition="outside",
                cliponaxis=False,
                hovertemplate="%{y} clusters of %{x} entries<extra></extra>",
                marker={"color": PALETTE[0]},
            )
        ],
        {
            **_LAYOUT,
            "showlegend": False,
            "xaxis": {"title": "entries in a cluster", "type": "category", "fixedrange": True},
            "yaxis": {
                "title": "clusters",
                "gridcolor": RULE,
                "fixedrange": True,
                "rangemode": "tozero",
                # Integer ticks, about six of them.
                "dtick": max(1, -(-max(counts, default=1) // 6)),
            },
            "margin": {"l": 60, "r": 8, "t": 20, "b": 50},
        },
    )


_LAYOUT: dict[str, Any] = {
    "template": "none",
    "autosize": True,
    "paper_bgcolor": "#fff",
    "plot_bgcolor": "#fff",
    "font": {"color": INK, "size": 13, "family": "Segoe UI, Roboto, Liberation Sans, sans-serif"},
}


def _about(point: Point) -> list[object]:
    """The fields of a point's card, in the order that `clusters.js` reads."""
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
    """The image as base64 of a small JPEG; None if it is not stored. Raises ImageDamaged."""
    return image_store.thumbnail_base64(image_id, THUMBNAIL_SIDE) if image_id else None


def _data(value: object) -> str:
    """JSON for a script element of data: "<" is escaped, so that no text can close the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
