"""`cluster.duplicates`: images behind several URLs and near-duplicate images, over all shards.

What belongs here: reading hashes and writing groups. The comparison is in
`methods/ingest/near_duplicates.py`.
"""

import dagster as dg

from assets.common.automation import WHEN_READY
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.ingest import images
from methods.ingest.near_duplicates import duplicate_groups, near_duplicates
from resources.corpus.corpus import Corpus
from resources.images.store import ImageStore
from resources.warehouse import Warehouse


@table_asset("cluster.duplicates", kinds={"image"}, deps=[images], automation_condition=WHEN_READY)
def duplicates(
    warehouse: dg.ResourceParam[Warehouse],
    corpus: dg.ResourceParam[Corpus],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Images that are one file behind several URLs, or near-duplicates by perceptual hash."""
    hashes = warehouse.read("cluster/image_hashes").to_pylist()
    bits = corpus.settings.images.near_duplicate_bits
    ids = [image["image_id"] for image in hashes]
    pairs = near_duplicates(ids, [image["phash"] for image in hashes], bits)
    groups = duplicate_groups(ids, pairs)
    distance: dict[str, int] = {}
    for pair in pairs:
        for image_id in (pair.first_id, pair.second_id):
            distance[image_id] = min(pair.distance, distance.get(image_id, pair.distance))
    rows = [
        {
            "image_id": image["image_id"],
            "group_id": groups.get(image["image_id"], image["image_id"]),
            "n_urls": image["n_urls"],
            "distance": distance.get(image["image_id"]),
        }
        for image in hashes
        if image["n_urls"] > 1 or image["image_id"] in groups
    ]
    table = rows_to_arrow("cluster.duplicates", rows)
    warehouse.replace("cluster.duplicates", table)
    return report(
        table,
        {
            "images": len(hashes),
            "exact: behind several URLs": sum(image["n_urls"] > 1 for image in hashes),
            "near: look like another": len(groups),
            "groups that look alike": len(set(groups.values())),
            "bits": bits,
        },
        images=image_store,
    )
