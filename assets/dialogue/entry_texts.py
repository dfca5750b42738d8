"""Texts of entries (caption and notes) that the writer model gets in addition to their images."""

from collections.abc import Iterable

from assets.common.generation import Row
from resources.warehouse import Warehouse


def texts_of(warehouse: Warehouse, entry_ids: Iterable[str]) -> dict[str, Row]:
    """Read the texts about entries.

    Args:
        warehouse: The tables.
        entry_ids: The ids of the entries.

    Returns:
        `caption` and `notes` by entry id.
    """
    rows = warehouse.read("dialogue/entry_texts", {"entry_ids": list(entry_ids)}).to_pylist()
    return {row.pop("entry_id"): row for row in rows}
