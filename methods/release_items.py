"""Loads the items of a release from the rows of its tables, for evaluation and exports."""

from collections.abc import Mapping, Sequence
from typing import Any

from methods.evaluation.items import Item, ReferenceKind, Turn
from methods.release import Rows

Row = Mapping[str, Any]


def items_of_release(rows: Rows, language: str | None = None) -> list[Item]:
    """Make items from the rows of a release.

    Args:
        rows: The rows by table.
        language: The release's language, if it is known.

    Returns:
        The items in the order of their rows. An item may lack images, choices and references.
    """
    turns, choices, images = (_by_item(rows[table]) for table in ("turns", "choices", "images"))
    references: dict[tuple[str, int], dict[ReferenceKind, str]] = {}
    for row in rows["references"]:
        references.setdefault((row["item_id"], row["turn"]), {})[row["kind"]] = row["reference"]
    return [
        Item(
            item_id,
            tuple(
                Turn(
                    row["turn"],
                    row["question"],
                    tuple(row["image_positions"]),
                    references.get((item_id, row["turn"]), {}),
                    row["given"],
                )
                for row in turns.get(item_id, ())
            ),
            tuple(row["image_id"] for row in images.get(item_id, ())),
            tuple(row["choice"] for row in choices.get(item_id, ())),
            item["group_id"],
            item["labels"],
            language,
        )
        for item in rows["items"]
        for item_id in [item["item_id"]]
    ]


def _by_item(rows: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["item_id"], []).append(row)
    return groups
