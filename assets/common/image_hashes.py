"""Perceptual hashes of images that are in releases: those of entries are measured at ingestion.

What belongs here: hashes that stages share, each computed once, and which images look like others.
Comparing hashes is `methods/ingest/near_duplicates.py`.
"""

from collections.abc import Iterable, Mapping

from assets.common.tables import rows_to_arrow
from methods.ingest.image_check import ImageRejected
from methods.ingest.image_quality import measure_image
from methods.ingest.near_duplicates import near_duplicates
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

TABLE = "cluster.released_hashes"


def perceptual_hashes(
    warehouse: Warehouse, image_store: ImageStore, image_ids: Iterable[str]
) -> dict[str, str]:
    """The hash of each image, as 16 hex digits; what is not known yet is measured and kept.

    An image that cannot be measured has none. Raises ImageNotStored.
    """
    wanted = sorted(set(image_ids))
    rows = warehouse.read("cluster/known_hashes", {"image_ids": wanted}).to_pylist()
    known = {row["image_id"]: row["phash"] for row in rows}
    new = [image_id for image_id in wanted if image_id not in known]
    measured = []
    for image_id in new:
        try:
            facts = measure_image(image_store.read(image_id))
        except ImageRejected:
            continue
        measured.append({"image_id": image_id, "phash": facts.phash})
    if measured:
        table = rows_to_arrow(TABLE, measured)
        warehouse.replace(TABLE, table, {"image_id": [row["image_id"] for row in measured]})
    return known | {row["image_id"]: row["phash"] for row in measured}


def images_like(first: Mapping[str, str], second: Mapping[str, str], bits: int) -> dict[str, str]:
    """Each image of `first` that is, or looks like, one of `second`, and which one, by their hashes."""
    found = {image_id: image_id for image_id in first.keys() & second.keys()}
    # Hashes are compared, not images: of several images with one hash each has its near ones.
    names: dict[str, tuple[list[str], list[str]]] = {}
    for side, hashes in enumerate((first, second)):
        for image_id, phash in sorted(hashes.items()):
            names.setdefault(phash, ([], []))[side].append(image_id)
    near = [(phash, phash) for phash in names]
    for one, other, _ in near_duplicates(list(names), list(names), bits):
        near += [(one, other), (other, one)]
    for mine, theirs in near:
        for image_id in names[mine][0]:
            if names[theirs][1]:
                found.setdefault(image_id, names[theirs][1][0])
    return found
