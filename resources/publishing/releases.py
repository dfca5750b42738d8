"""Read releases from the tables: all releases, the current release of each name, and their rows."""

from collections.abc import Sequence
from typing import Any

from methods.errors import UserError
from methods.naming import nearest
from methods.release import RELEASE_TABLES
from resources.warehouse import Warehouse


def rows_of_release(warehouse: Warehouse, release_id: str) -> dict[str, list[dict[str, Any]]]:
    """Read the rows of a release.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        The rows of each of `RELEASE_TABLES`, in order and without the release's id; labels are a dict.
    """
    rows = warehouse.read_rows("release/{}_of", RELEASE_TABLES, {"release_id": release_id})
    for item in rows["items"]:
        item["labels"] = dict(item["labels"])
    return rows


class ReleaseError(UserError):
    """A reference does not match exactly one release; the message names candidates."""


def current_releases(warehouse: Warehouse) -> dict[str, str]:
    """Return the id of the current release for each name."""
    rows = warehouse.read("release/current").to_pylist()
    return {row["name"]: row["release_id"] for row in rows}


def cards_of(warehouse: Warehouse, release_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Read the rows of `release.releases` for some releases.

    Args:
        warehouse: The tables.
        release_ids: The releases.

    Returns:
        A row for each release, in the same order.

    Raises:
        ReleaseError: A release does not exist.
    """
    cards = {row["release_id"]: row for row in warehouse.read("release/all").to_pylist()}
    for release_id in release_ids:
        if release_id not in cards:
            names = [*cards, *(row["name"] for row in cards.values())]
            there_are = nearest(release_id, names) if cards else "there are none yet"
            raise ReleaseError(f"There is no release {release_id}; {there_are}.")
    return [cards[release_id] for release_id in release_ids]


def release_meant(warehouse: Warehouse, reference: str) -> str:
    """Find the id of a release. An exact id has precedence over a name.

    Args:
        warehouse: The tables.
        reference: An id, the beginning of an id, or a name, which stands for its current release.

    Raises:
        ReleaseError: No release matches, or several ids begin with the reference.
    """
    cards = warehouse.read("release/all").to_pylist()
    ids = [card["release_id"] for card in cards]
    current = {card["name"]: card["release_id"] for card in cards if card["is_current"]}
    if reference in ids:
        return reference
    if reference in current:
        return current[reference]
    begun = [release_id for release_id in ids if reference and release_id.startswith(reference)]
    if len(begun) > 1:
        raise ReleaseError(
            f"{reference} matches the beginning of several release ids: {', '.join(begun)}."
        )
    (card,) = cards_of(warehouse, begun or [reference])
    return str(card["release_id"])
