"""The items of a report: what is flagged, difficulty against discrimination, the curve of subsets.

What belongs here: places on the plots, and words beside them. The data are gathered by
`assets/evaluate/item_report_data.py`; the section is `templates/report_items.html`.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from resources.images.store import ImageStore
from resources.reports.report_examples import pieces, source_of
from resources.reports.report_input import Items, Row

MOST_FLAGGED = 30
"""Flagged items that are shown; the table has all."""
FLAGS = {
    "text_only": "right without the picture",
    "wrong_item": "every model fails",
    "negative_discrimination": "negative discrimination",
}
DECISIONS = {"pending": "not decided", "keep": "kept", "edit": "edited", "reject": "rejected"}


class Dot(NamedTuple):
    """Items at one place of the plot; places and diameter are in percent and pixels."""

    left: float
    top: float
    size: float
    title: str
    is_flagged: bool


class Curve(NamedTuple):
    """A line of the subset plot with its band, as points of an SVG of 100 x 100."""

    name: str
    line: str
    band: str


def item_section(data: Items | None, image_store: ImageStore) -> dict[str, Any] | None:
    """The section as the template takes it; None where the items were not analysed."""
    if data is None:
        return None
    statistics, subsets = data["statistics"], data["subsets"]
    return {
        "filters": data["filters"],
        "flagged": [_flagged(item, image_store) for item in data["flagged"][:MOST_FLAGGED]],
        "n_flagged": len(data["flagged"]),
        "n_easy": sum("everyone_right" in row["flags"] for row in statistics),
        "n_items": len(statistics),
        "n_models": max(row["n_models"] for row in statistics),
        "dots": _dots(statistics),
        "n_without": sum(row["discrimination"] is None for row in statistics),
        "subsets": _subsets(subsets),
    }


def _flagged(of: Row, image_store: ImageStore) -> dict[str, Any]:
    content = of["content"]
    decision = of["decision"]
    return {
        "item_id": of["item_id"],
        "images": [source_of(image_id, image_store) for image_id in of["image_ids"]],
        "question": pieces(
            content["question"] if content else of["text"], range(1, len(of["image_ids"]) + 1)
        ),
        "hint": content["hint"] if content else None,
        "choices": [
            (letter, pieces(text), letter == content["answer"])
            for letter, text in (content["choices"] if content else {}).items()
        ],
        "flags": [(FLAGS[row["flag"]], _votes(row)) for row in of["flags"]],
        "decision": DECISIONS[decision["decision"]] if decision else "not queued",
        "reason": decision["reason"] if decision else None,
        "reviewers": decision["reviewers"] if decision else [],
    }


def _votes(row: Row) -> str:
    if row["discrimination"] is not None:
        return f"{row['discrimination']:.2f} over {row['n_models']} models"
    right, wrong, unknown = (len(row[f"{name}_models"]) for name in ("right", "wrong", "unknown"))
    votes = f"{right} of {right + wrong} right"
    if row["right_models"]:
        votes += f": {', '.join(row['right_models'])}"
    return f"{votes}; {unknown} not known" if unknown else votes


def _dots(statistics: Sequence[Row]) -> list[Dot]:
    places: dict[tuple[float, float], list[Row]] = {}
    for row in statistics:
        if row["discrimination"] is not None:
            at = round(row["share_right"], 2), round(row["discrimination"], 2)
            places.setdefault(at, []).append(row)
    dots = []
    for (share, discrimination), rows in sorted(places.items()):
        named = ", ".join(str(row["item_id"])[:12] for row in rows[:5])
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        dots.append(
            Dot(
                round(100 * share, 2),
                round(50 - 50 * discrimination, 2),
                round(min(8 * math.sqrt(len(rows)), 34), 1),
                f"{len(rows)} of {share:.0%} right, discrimination {discrimination:.2f}: "
                f"{named}{more}",
                discrimination < 0,
            )
        )
    return dots


def _subsets(rows: Sequence[Row]) -> dict[str, Any] | None:
    if not rows:
        return None
    first, last = rows[0], rows[-1]
    if first["why"]:
        return {"why": first["why"]}
    whole = last["n_items"]
    ends = math.log(first["size"]), math.log(max(last["size"], first["size"] + 1))
    across = [100 * (math.log(row["size"]) - ends[0]) / (ends[1] - ends[0]) for row in rows]
    low = min(0.0, *(row[f"{name}_low"] for row in rows for name in ("held_out", "random")))
    low = math.floor(4 * low) / 4
    ticks = [row["size"] for row in rows]
    return {
        "why": None,
        "curves": [
            _curve("chosen", "held_out", rows, across, low),
            _curve("random", "random", rows, across, low),
        ],
        "low": f"{low:g}",
        "first": ticks[0],
        "last": ticks[-1],
        "whole": whole,
        "rows": [row for row in rows if row["size"] in _shown(ticks) or row["is_smallest"]],
        "smallest": next((row for row in rows if row["is_smallest"]), None),
        "smallest_random": next((row for row in rows if row["is_smallest_random"]), None),
    }


def _shown(sizes: Sequence[int]) -> list[int]:
    """Up to eight of the sizes, the first and the last among them."""
    step = max(1, math.ceil((len(sizes) - 1) / 7))
    return [*sizes[::step], sizes[-1]]


def _curve(
    name: str, column: str, rows: Sequence[Row], across: Sequence[float], low: float
) -> Curve:
    def points(values: Sequence[float], places: Sequence[float]) -> list[str]:
        return [
            f"{x:.2f},{100 * (1 - value) / (1 - low):.2f}"
            for x, value in zip(places, values, strict=True)
        ]

    above = points([row[f"{column}_high"] for row in rows], across)
    below = points([row[f"{column}_low"] for row in rows], across)
    return Curve(
        name,
        " ".join(points([row[column] for row in rows], across)),
        " ".join([*above, *reversed(below)]),
    )
