"""Imported benchmarks: builds the rows of the release tables from the items of a published file.

`methods/<benchmark>/published.py` reads the file.
"""

from collections.abc import Mapping, Sequence

from methods.errors import UserError
from methods.evaluation.items import Item
from methods.evaluation.published import PublishedError
from methods.evaluation.published_tables import shortened_id
from methods.evaluation.slices import tells_kinds
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

MOST_LABELS = 200
"""Limit of the label names of a release. Its tables have a column for each of them."""
MOST_NAME = 1_000
"""Limit of the characters of ids, label names, and label values by which scores are split. Many rows
repeat each of them."""
MOST_ITEM_BYTES = 75_000_000
"""Limit of the bytes of an item's images. In base64 they fill a cell of a table (`MOST_CELL`)."""
ANY_BYTES, MOST_TIMES = 1_000_000_000, 100
"""The images of all items together may have ANY_BYTES, and more if that is at most MOST_TIMES the bytes
of the different images."""


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


def require_bounded(items: Sequence[Item], sizes: Mapping[str, int]) -> None:
    """Check that the tables and exports of a release are not far larger than what is imported.

    An export with embedded images repeats an image for each item that shows it, and a table has a cell
    for each item and label name.

    Args:
        items: The items.
        sizes: The bytes of each image, by image id.

    Raises:
        PublishedError: There are too many label names, an id or a label is too long, or the images of
            an item or of all items are too large, each counted as often as it is shown.
    """
    _require_bounded_names(items)
    n_bytes = 0
    for item in items:
        n_item_bytes = sum(sizes[image_id] for image_id in item.image_ids)
        if n_item_bytes > MOST_ITEM_BYTES:
            raise PublishedError(
                f"record {shortened_id(item.item_id)} shows images of {n_item_bytes:,} bytes, more "
                f"than the {MOST_ITEM_BYTES:,} allowed"
            )
        n_bytes += n_item_bytes
    image_ids = {image_id for item in items for image_id in item.image_ids}
    most = max(ANY_BYTES, MOST_TIMES * sum(sizes[image_id] for image_id in image_ids))
    if n_bytes > most:
        raise PublishedError(
            f"its records show images of {n_bytes:,} bytes, each counted as often as it is shown, more "
            f"than the {most:,} allowed"
        )


def _require_bounded_names(items: Sequence[Item]) -> None:
    values: dict[str, set[str]] = {}
    for item in items:
        if max(map(len, (item.item_id, item.group_id or "", *item.labels))) > MOST_NAME:
            raise PublishedError(
                f"record {shortened_id(item.item_id)} has an id, a group or the name of a label with "
                f"more than {MOST_NAME:,} characters: shorten it"
            )
        for name, value in item.labels.items():
            values.setdefault(name, set()).add(value)
    if len(values) > MOST_LABELS:
        raise PublishedError(
            f"its records have {len(values):,} different labels, more than the {MOST_LABELS} allowed"
        )
    for name, texts in values.items():
        if tells_kinds(name, len(texts)) and max(map(len, texts)) > MOST_NAME:
            raise PublishedError(
                f"its label {shortened_id(name)}, by which scores are split, has a value with more "
                f"than {MOST_NAME:,} characters: shorten the value, or remove the label"
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
