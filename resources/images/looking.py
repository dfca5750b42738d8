"""Pictures of the store as they are compared: read, decoded, made small.

What belongs here: what is done with one picture at a time, in a run's process or on a cluster. Which
pictures, and what is known of them, is `assets/common/picture_copies.py`.
"""

from collections.abc import Callable

import pyarrow as pa

from methods.ingest.image_check import ImageRejected, truncated_on_error
from methods.ingest.picture_match import Square, square
from resources.images.store import ImageStore, open_images


def square_of(store: ImageStore, image_id: str) -> Square:
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
