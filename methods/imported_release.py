"""Imported benchmarks: builds the rows of the release tables from the items of a published file.

`methods/<benchmark>/published.py` reads the file.
"""

from collections.abc import Sequence
from typing import Any

from methods.errors import UserError
from methods.evaluation.items import Item
from methods.release import (
    RELEASE_NAME,
    RELEASE_TABLES,
    Edition,
    Release,
    ReviewPolicy,
    with_release_ids,
)

NOBODY = ReviewPolicy("none", 0.0)
"""The review policy of imported items: nobody reviewed them here. The file does not tell whether its
authors did."""
SOURCE = ("page_url", "title", "attribution", "licence", "licence_url", "artist")
"""Columns of `release.images` that are null, because a published file does not have them."""


def imported_name(edition: Edition) -> str:
    """Return the name of an imported release: benchmark, split and language, joined by hyphens.

    Without split and language it is `<benchmark>-imported`, because releases that are built here have
    the name of the benchmark.
    """
    parts = [part.lower() for part in (edition.split, edition.language) if part]
    return "-".join([str(edition.benchmark), *(parts or ["imported"])])


def require_name(name: str) -> None:
    """Raise UserError unless `name` may be part of a release's id, which names a folder."""
    if not RELEASE_NAME.fullmatch(name):
        raise UserError(
            f"{name[:80]!r} cannot be the name of a release: use up to 60 lower-case letters, digits, "
            "dots, hyphens and underscores (--name)."
        )


def imported_release(name: str, edition: Edition, items: Sequence[Item]) -> Release:
    """Build the release of an imported benchmark, with every column, because rows are hashed.

    Args:
        name: The name of the release.
        edition: Benchmark, split and language.
        items: The items in order.

    Returns:
        The rows of `RELEASE_TABLES`.
    """
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in RELEASE_TABLES}
    unmade = {"call_key": None, "prompt_version": None}
    for ordinal, item in enumerate(items, start=1):
        item_key = {"item_id": item.item_id}
        rows["items"].append(
            {
                **item_key,
                "set_id": None,
                "group_id": item.group_id,
                "ordinal": ordinal,
                "revision": 0,
                "reviewers": [],
                "labels": dict(item.labels),
            }
        )
        rows["turns"] += [
            {
                **item_key,
                "turn": turn.turn,
                "question": turn.question,
                "image_positions": list(turn.image_positions),
                "given": turn.given,
                **unmade,
            }
            for turn in item.turns
        ]
        rows["references"] += [
            {**item_key, "turn": turn.turn, "kind": kind, "reference": text, **unmade}
            for turn in item.turns
            for kind, text in sorted(turn.references.items())
        ]
        rows["choices"] += [
            {**item_key, "position": position, "choice": choice}
            for position, choice in enumerate(item.choices, start=1)
        ]
        rows["images"] += [
            {**item_key, "position": position, "image_id": image_id, **dict.fromkeys(SOURCE)}
            for position, image_id in enumerate(item.image_ids, start=1)
        ]
    return with_release_ids(name, NOBODY, edition, rows)
