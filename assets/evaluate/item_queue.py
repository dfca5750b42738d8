"""Review queue of flagged items: people see why an item is flagged, and keep, edit or reject it."""

from collections import Counter
from typing import Any

import dagster as dg

from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.flagged_items import flagged_items
from assets.evaluate.item_report_data import flags_of
from assets.evaluate.item_statistics import item_statistics
from assets.review import queue_row
from methods.choice.languages import SOURCE_LANGUAGE
from methods.ids import canonical_json
from methods.release_items import items_of_release
from methods.review import QueueItem, queue_item
from methods.review.flagged_items import (
    FLAGGED,
    REVIEWED,
    evidence,
    flagged_queue_item,
    released_content,
)
from resources.images.store import ImageStore
from resources.publishing.releases import current_releases, rows_of_release
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

Row = dict[str, Any]


@table_asset("evaluate.item_queue", kinds={"image"}, deps=[flagged_items, item_statistics])
def item_queue(
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    review_store: dg.ResourceParam[ReviewStore],
) -> dg.MaterializeResult:
    """Flagged multiple-choice items of the current releases, for people to keep, edit or reject.

    An item with the same content in several releases is queued once. Translations are not queued here,
    because `review/queue` has them.
    """
    queue: dict[str, Row] = {}
    flags: Counter[str] = Counter()
    n_without = n_translated = 0
    translated = _translated(warehouse)
    for release_id, rows in flags_of_current(warehouse).items():
        if release_id in translated:
            n_translated += len(rows)
            continue
        of_items = _queued(warehouse, release_id)
        for row in rows:
            if row["item_id"] not in of_items:
                n_without += 1
                continue
            flags[row["flag"]] += 1
            item, about = of_items[row["item_id"]]
            entry = queue.setdefault(item["item_id"], {**item, **about, "flags": []})
            entry["flags"].append(row)
    table = write_rows(warehouse, {"evaluate.item_queue": [_row(row) for row in queue.values()]})
    changes = review_store.update_queue(flagged_in_queue(warehouse), [FLAGGED])
    counted = {**flags, **changes._asdict()}
    if n_without:
        counted["flags of items without choices or a key"] = n_without
    if n_translated:
        counted["flags of translations, which are reviewed as such"] = n_translated
    return report(table, counted, images=image_store)


def flags_of_current(warehouse: Warehouse) -> dict[str, list[Row]]:
    """Read the flags for review on each current release, one row for each item and flag."""
    releases = set(current_releases(warehouse).values())
    by_release = {
        release_id: [row for row in flags_of(warehouse, release_id) if row["flag"] in REVIEWED]
        for release_id in sorted(releases)
    }
    return {release_id: rows for release_id, rows in by_release.items() if rows}


def _translated(warehouse: Warehouse) -> set[str]:
    """Return the current releases that this project built as translations."""
    return {
        row["release_id"]
        for row in warehouse.read("release/current").to_pylist()
        if row["origin"] == "built" and row["language"] not in (None, SOURCE_LANGUAGE)
    }


def flagged_in_queue(warehouse: Warehouse) -> list[QueueItem]:
    """Read the items of the table `evaluate.item_queue`."""
    rows = warehouse.select("evaluate.item_queue", order="item_id").to_pylist()
    return [queue_item(row) for row in rows]


def _queued(warehouse: Warehouse, release_id: str) -> dict[str, tuple[QueueItem, Row]]:
    """Return the items of a release that people can decide on, by id, with image set and page URLs."""
    rows = rows_of_release(warehouse, release_id)
    set_ids = {row["item_id"]: row["set_id"] for row in rows["items"]}
    pages: dict[str, list[str]] = {}
    for row in rows["images"]:
        pages.setdefault(row["item_id"], []).append(row["page_url"] or "")
    return {
        item.item_id: (
            flagged_queue_item(item.item_id, content),
            {
                # Imported items have no image set.
                "set_id": set_ids[item.item_id] or item.item_id,
                "page_urls": pages.get(item.item_id, []),
            },
        )
        for item in items_of_release(rows)
        if (content := released_content(item)) is not None
    }


def _row(entry: Row) -> Row:
    context = {
        "why": evidence(entry["flags"]),
        "page_urls": entry["page_urls"],
        "releases": sorted({flag["release_id"] for flag in entry["flags"]}),
    }
    return queue_row(entry, entry["content"], canonical_json(context))
