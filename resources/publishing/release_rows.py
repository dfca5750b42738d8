"""The rows of one release in the tables.

What belongs here: reading them, for exports, evaluation and comparison alike. What a release's rows
become is `methods/release_items.py`.
"""

from typing import Any

from methods.release import RELEASE_TABLES
from resources.warehouse import Warehouse


def rows_of_release(warehouse: Warehouse, release_id: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of `RELEASE_TABLES` in order, without the release's id; labels as a dict."""
    rows = warehouse.read_rows("release/{}_of", RELEASE_TABLES, {"release_id": release_id})
    for item in rows["items"]:
        item["labels"] = dict(item["labels"])
    return rows
