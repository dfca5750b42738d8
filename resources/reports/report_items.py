"""The item analysis in a report: flagged items, difficulty, discrimination and smallest subsets.

`assets/evaluate/item_report_data.py` collects the data; `templates/report_items.html` renders the
section.
"""

import math
from collections.abc import Sequence
from typing import Any

from methods.naming import decimal_text
from resources.images.store import ImageStore
from resources.reports.figures import inline_svg
from resources.reports.item_charts import ItemsDot, difficulty_figure, subsets_figure
from resources.reports.report_examples import pieces, source_of
from resources.reports.report_input import ItemAnalysisInput, Row

MOST_FLAGGED = 30
"""The report shows at most this many flagged items; the table `evaluate.flagged_items` has all."""
FLAGS = {
    "text_only": "right without the picture",
    "wrong_item": "every model fails",
    "negative_discrimination": "negative discrimination",
}
DECISIONS = {"pending": "not decided", "keep": "kept", "edit": "edited", "reject": "rejected"}


def item_section(data: ItemAnalysisInput | None, image_store: ImageStore) -> dict[str, Any] | None:
    """Make the data of the template; None if the items were not analysed.

    Args:
        data: The results.
        image_store: The image store.
    """
    if data is None:
        return None
    statistics, subsets = data["statistics"], data["subsets"]
    n_models = max(row["n_models"] for row in statistics)
    dots = items_dots(statistics)
    difficulty = (
        inline_svg(
            difficulty_figure(dots, n_models),
            "Discrimination of the items against the share of models that have them right",
        )
        if dots
        else None
    )
    return {
        "filters": data["filters"],
        "flagged": [_flagged(item, image_store) for item in data["flagged"][:MOST_FLAGGED]],
        "n_flagged": len(data["flagged"]),
        "n_easy": sum("everyone_right" in row["flags"] for row in statistics),
        "n_items": len(statistics),
        "difficulty": difficulty,
        "n_without": sum(row["discrimination"] is None for row in statistics),
        "subsets": _subsets(subsets),
    }


def _flagged(item: Row, image_store: ImageStore) -> dict[str, Any]:
    content = item["content"]
    decision = item["decision"]
    return {
        "item_id": item["item_id"],
        "images": [source_of(image_id, image_store) for image_id in item["image_ids"]],
        "question": pieces(
            content["question"] if content else item["text"], range(1, len(item["image_ids"]) + 1)
        ),
        "hint": content["hint"] if content else None,
        "choices": [
            (letter, pieces(text), letter == content["answer"])
            for letter, text in (content["choices"] if content else {}).items()
        ],
        "flags": [(FLAGS[row["flag"]], _votes(row)) for row in item["flags"]],
        "decision": DECISIONS[decision["decision"]] if decision else "not queued",
        "reason": decision["reason"] if decision else None,
        "reviewers": decision["reviewers"] if decision else [],
    }


def _votes(row: Row) -> str:
    if row["discrimination"] is not None:
        return f"{decimal_text(row['discrimination'], 2)} over {row['n_models']} models"
    right, wrong, unknown = (len(row[f"{name}_models"]) for name in ("right", "wrong", "unknown"))
    votes = f"{right} of {right + wrong} right"
    if row["right_models"]:
        votes += f": {', '.join(row['right_models'])}"
    return f"{votes}; {unknown} not known" if unknown else votes


def items_dots(statistics: Sequence[Row]) -> list[ItemsDot]:
    """Group items by their position in the plot; items without a discrimination are left out."""
    places: dict[tuple[float, float], list[Row]] = {}
    for row in statistics:
        if row["discrimination"] is not None:
            at = round(row["share_right"], 2), round(row["discrimination"], 2)
            places.setdefault(at, []).append(row)
    dots = []
    for (share, discrimination), rows in sorted(places.items()):
        named = ", ".join(str(row["item_id"])[:12] for row in rows[:5])
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        words = (
            f"{len(rows)} of {share:.0%} right, discrimination {decimal_text(discrimination, 2)}: "
            f"{named}{more}"
        )
        dots.append(ItemsDot(share, discrimination, len(rows), words))
    return dots


def _subsets(rows: Sequence[Row]) -> dict[str, Any] | None:
    if not rows:
        return None
    if rows[0]["why"]:
        return {"why": rows[0]["why"]}
    shown = _shown([row["size"] for row in rows])
    label = "Held-out tau by size of the subset, chosen and random"
    return {
        "why": None,
        "figure": inline_svg(subsets_figure(rows), label),
        "rows": [row for row in rows if row["size"] in shown or row["is_smallest"]],
        "smallest": next((row for row in rows if row["is_smallest"]), None),
        "smallest_random": next((row for row in rows if row["is_smallest_random"]), None),
    }


def _shown(sizes: Sequence[int]) -> list[int]:
    """Pick up to eight of the sizes, evenly spaced, with the first and the last one."""
    step = max(1, math.ceil((len(sizes) - 1) / 7))
    return [*sizes[::step], sizes[-1]]
