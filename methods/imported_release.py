"""Imported benchmarks: builds the rows of the release tables from the items of a published file.

`methods/<benchmark>/published.py` reads the file.
"""

from collections.abc import Sequence

from methods.errors import UserError
from methods.evaluation.items import Item
from methods.release import (
    RELEASE_NAME,
    Edition,
    Origin,
    Release,
    ReleaseRows,
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
    rows = ReleaseRows()
    for ordinal, item in enumerate(items, start=1):
        rows.add_item(ordinal, item.item_id, 0, [], item.labels, group_id=item.group_id)
        for turn in item.turns:
            rows.add_turn(turn.turn, turn.question, turn.image_positions, Origin(), turn.given)
            for kind, text in sorted(turn.references.items()):
                rows.add_reference(turn.turn, kind, text, Origin())
        rows.add_choices(item.choices)
        rows.add_images(item.image_ids, lambda _: dict.fromkeys(SOURCE))
    return with_release_ids(name, NOBODY, edition, rows.tables)
