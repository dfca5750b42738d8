"""The rows of one release in the tables.

What belongs here: reading them, for exports, evaluation and comparison alike. What a release's rows
become is `methods/release_items.py`.
"""

from typing import Any

from methods.release import RELEASE_TABLES
from resources.warehouse import Warehouse


def rows_of_release(warehouse: Warehouse, release_id: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of `RELEASE_TABLES` in order, without the release's id; labels as a dict."""
    where = {"release_id": release_id}
    rows = {
        table: warehouse.read(f"release/{table}_of", where).to_pylist() for table in RELEASE_TABLES
    }
    for item in rows["items"]:
        item["labels"] = dict(item["labels"])
    return rows
