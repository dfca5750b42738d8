"""Data of a report's item analysis: filters, item statistics, subsets and people's decisions."""

from collections.abc import Sequence
from typing import Any

from methods.evaluation.items import Item
from methods.json_text import from_json
from methods.review.flagged_items import REVIEWED, released_content
from resources.reports.report_input import ItemAnalysisInput
from resources.warehouse import Warehouse

Row = dict[str, Any]


def item_report_data(
    warehouse: Warehouse, release_id: str, items: Sequence[Item]
) -> ItemAnalysisInput | None:
    """Read the data of a report's section on items.

    Args:
        warehouse: The tables.
        release_id: The release.
        items: The items of the release.

    Returns:
        The data; None if the items were not analysed.
    """
    with warehouse.kept_open():
        statistics = warehouse.read("evaluate/item_statistics_of", {"release_id": release_id})
        decided = warehouse.select(
            "evaluate.item_decisions",
            "item_id",
            "decision",
            "reason",
            "reviewers",
            order="item_id",
            release_id=release_id,
        )
        filters = warehouse.select("evaluate.filters", order="filter", release_id=release_id)
        subsets = warehouse.select("evaluate.smallest_subsets", order="size", release_id=release_id)
    if not statistics.num_rows:
        return None
    decisions = {row["item_id"]: row for row in decided.to_pylist()}
    by_id = {item.item_id: item for item in items}
    flagged: dict[str, Row] = {}
    for row in flags_of(warehouse, release_id):
        if row["flag"] not in REVIEWED:
            continue
        item = by_id[row["item_id"]]
        entry = flagged.setdefault(
            item.item_id,
            {
                "item_id": item.item_id,
                "image_ids": item.image_ids,
                "content": released_content(item),
                "text": item.turns[0].question,
                "decision": decisions.get(item.item_id),
                "flags": [],
            },
        )
        entry["flags"].append(row)
    return {
        "filters": filters.to_pylist(),
        "statistics": statistics.to_pylist(),
        "flagged": list(flagged.values()),
        "subsets": subsets.to_pylist(),
    }


def flags_of(warehouse: Warehouse, release_id: str) -> list[Row]:
    """Read the flags on items of a release.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        A row for each item and flag, in the order of the items.
    """
    rows: list[Row] = warehouse.read("evaluate/flags_of", {"release_id": release_id}).to_pylist()
    for row in rows:
        row["answers"] = from_json(row["answers"] or "[]")
    return rows
