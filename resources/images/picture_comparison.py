"""Near-duplicate detection: thumbnails of stored images and their comparison, here or on a cluster."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from methods.ingest.image_check import ImageRejected, truncated_on_error
from methods.ingest.picture_match import CopyGeometry, Match, best_alignment, match
from methods.ingest.picture_thumbnail import SquareImage, Turn, square, thumbnail
from resources.images.store import ImageStore, open_images

SQUARES_AT_ONCE = 2_000
"""Decoded thumbnails that are kept in memory while pairs are compared, each of 72 KiB."""


class ImageComparison(NamedTuple):
    """A pair of images (ids) to compare, with the scale and the rotation of `part` within `whole`."""

    whole: str
    part: str
    scale: float
    turn: Turn


def thumbnail_of(store: ImageStore, image_id: str) -> bytes:
    """Make the thumbnail of a stored image. Raises ImageRejected, ImageNotStored, ImageDamaged."""
    data = store.read(image_id)
    with truncated_on_error("picture"):
        return thumbnail(data)


def compare(comparisons: Sequence[ImageComparison], thumbnails: Mapping[str, bytes]) -> list[Match]:
    """Compare pairs of images.

    Args:
        comparisons: The pairs, and how each is compared.
        thumbnails: The thumbnail of each image, by id.
    """
    import cv2

    # For images this small, a second thread costs more than it gains.
    cv2.setNumThreads(1)

    @lru_cache(SQUARES_AT_ONCE)
    def square_of(image_id: str) -> SquareImage:
        return square(thumbnails[image_id])

    matches = []
    for pair in comparisons:
        whole, part = square_of(pair.whole), square_of(pair.part)
        geometry = CopyGeometry(pair.scale, pair.turn)
        alignment = best_alignment(whole.miniature(), part.miniature(), geometry)
        matches.append(match(whole, part, alignment) if alignment else Match())
    return matches


def look_on_worker(version: int) -> Callable[[pa.Table], pa.Table]:
    """Make the function by which a cluster's worker adds a column `thumbnail` to rows with `image_id`.

    Images come from the workspace or the bucket. The thumbnail of an image that cannot be decoded is
    null. `version` is the version of the methods: a new one is a new task for the cluster. The function
    raises ImageNotStored, ImageDamaged.
    """
    store = open_images()

    def of_image(image_id: str) -> bytes | None:
        try:
            return thumbnail_of(store, image_id)
        except ImageRejected:
            return None

    return lambda rows: rows.append_column(
        "thumbnail", pa.array([of_image(one) for one in rows["image_id"].to_pylist()], pa.binary())
    )


def compare_on_worker(version: int) -> Callable[[pa.Table], pa.Table]:
    """Make the function by which a cluster's worker compares pairs of images.

    Rows have the columns of ImageComparison, `whole_thumbnail` and `part_thumbnail`. They get the
    columns of Match and `is_same`. `version` is the version of the methods.
    """

    def compare_rows(rows: pa.Table) -> pa.Table:
        comparisons = [
            ImageComparison(**row) for row in rows.select(ImageComparison._fields).to_pylist()
        ]
        thumbnails = {
            image_id: data
            for side in ("whole", "part")
            for image_id, data in zip(
                rows[side].to_pylist(), rows[f"{side}_thumbnail"].to_pylist(), strict=True
            )
        }
        matches = [
            {**matched._asdict(), "is_same": matched.is_same}
            for matched in compare(comparisons, thumbnails)
        ]
        table = rows.drop_columns(["scale", "turn", "whole_thumbnail", "part_thumbnail"])
        for name in (*Match._fields, "is_same"):
            table = table.append_column(name, pa.array([row[name] for row in matches]))
        return table

    return compare_rows
