"""Pictures of the store as they are compared: read, decoded, made small, laid on one another."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from methods.ingest.image_check import ImageRejected, truncated_on_error
from methods.ingest.picture_match import (
    MINIATURE_SIDE,
    CopyGeometry,
    Match,
    Miniature,
    SquareImage,
    Turn,
    best_alignment,
    match,
    square,
)
from resources.images.store import ImageStore, open_images

SQUARES_AT_ONCE = 2_000
"""Pictures kept in memory while pairs are compared: 72 KiB each."""


class ImageComparison(NamedTuple):
    """How two pictures are compared, by their ids: as a candidate says."""

    whole: str
    part: str
    scale: float
    turn: Turn


class SquareImageCache:
    """The squares of stored pictures; those made last are kept."""

    def __init__(self, store: ImageStore) -> None:
        self._store = store
        self._kept: dict[str, SquareImage] = {}

    def get(self, image_id: str) -> SquareImage:
        """The square of a picture. Raises ImageRejected, ImageNotStored, ImageDamaged."""
        if image_id not in self._kept:
            if len(self._kept) >= SQUARES_AT_ONCE:
                del self._kept[next(iter(self._kept))]
            self._kept[image_id] = square_of(self._store, image_id)
        return self._kept[image_id]

    def matches(
        self,
        compared: Sequence[ImageComparison],
        wholes: Sequence[Miniature],
        parts: Sequence[Miniature],
    ) -> list[Match]:
        """Measure how far pairs of images are equal.

        Args:
            compared: The pairs.
            wholes: The miniatures of the first images.
            parts: The miniatures of the second images.

        Returns:
            A match for each pair.

        Raises:
            Exception: The errors of `get`.
        """
        from threadpoolctl import threadpool_limits

        # A second thread costs more than it helps with arrays as small as these.
        with threadpool_limits(limits=1):
            looks = best_alignment(
                wholes, parts, [CopyGeometry(pair.scale, pair.turn) for pair in compared]
            )
            return [
                match(self.get(pair.whole), self.get(pair.part), look)
                if look.may_be_same
                else look.as_match()
                for pair, look in zip(compared, looks, strict=True)
            ]


def miniature_of(levels: bytes) -> Miniature:
    """A miniature from its bytes."""
    return np.frombuffer(levels, dtype=np.uint8).reshape(MINIATURE_SIDE, MINIATURE_SIDE)


def square_of(store: ImageStore, image_id: str) -> SquareImage:
    """The square of a stored picture. Raises ImageRejected, ImageNotStored, ImageDamaged."""
    data = store.read(image_id)
    with truncated_on_error("picture"):
        return square(data)


def look_on_worker(version: int) -> Callable[[pa.Table], pa.Table]:
    """For work by row on a cluster: the miniatures of pictures as bytes, in a column `grey`, from the
    images of the home or of the bucket; null for one that cannot be decoded.

    `version` is that of the methods: another one is other work. Raises ImageNotStored, ImageDamaged.
    """
    store = open_images()

    def grey(image_id: str) -> bytes | None:
        try:
            return square_of(store, image_id).miniature().tobytes()
        except ImageRejected:
            return None

    return lambda rows: rows.append_column(
        "grey", pa.array([grey(one) for one in rows["image_id"].to_pylist()], pa.binary())
    )


def compare_on_worker(version: int) -> Callable[[pa.Table], pa.Table]:
    """For work by row on a cluster: `SquareImageCache.matches` of pairs as columns with the names of
    Match, and `is_same`. Rows have the columns of ImageComparison, and `whole_grey` and `part_grey`,
    miniatures as bytes.

    `version` is that of the methods. Raises ImageRejected, ImageNotStored, ImageDamaged.
    """
    squares = SquareImageCache(open_images())

    def compare(rows: pa.Table) -> pa.Table:
        compared = [
            ImageComparison(**row) for row in rows.select(ImageComparison._fields).to_pylist()
        ]
        wholes, parts = (
            [miniature_of(one) for one in rows[column].to_pylist()]
            for column in ("whole_grey", "part_grey")
        )
        comparisons = [
            {**matched._asdict(), "is_same": matched.is_same}
            for matched in squares.matches(compared, wholes, parts)
        ]
        table = rows.drop_columns(["scale", "turn", "whole_grey", "part_grey"])
        for name in (*Match._fields, "is_same"):
            table = table.append_column(name, pa.array([row[name] for row in comparisons]))
        return table

    return compare
