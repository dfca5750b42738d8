"""`cluster.duplicates`: images that are equal or look alike, over all shards.

What belongs here: which images are compared and what is said of a group. The comparison is
`methods/ingest/near_duplicates.py`.
"""

import dagster as dg

from assets.common.tables import WHEN_READY, report, rows_to_arrow, table_asset
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
    """Images that are the same file behind several URLs, or look alike by perceptual hash."""
    looks = warehouse.read("cluster/looks").to_pylist()
    bits = corpus.settings.images.near_duplicate_bits
    ids = [look["image_id"] for look in looks]
    pairs = near_duplicates(ids, [look["phash"] for look in looks], bits)
    groups = duplicate_groups(ids, pairs)
    distance: dict[str, int] = {}
    for pair in pairs:
        for image_id in (pair.first_id, pair.second_id):
            distance[image_id] = min(pair.distance, distance.get(image_id, pair.distance))
    rows = [
        {
            "image_id": look["image_id"],
            "group_id": groups.get(look["image_id"], look["image_id"]),
            "n_urls": look["n_urls"],
            "distance": distance.get(look["image_id"]),
        }
        for look in looks
        if look["n_urls"] > 1 or look["image_id"] in groups
    ]
    table = rows_to_arrow("cluster.duplicates", rows)
    warehouse.replace("cluster.duplicates", table)
    return report(
        table,
        {
            "images": len(looks),
            "exact: behind several URLs": sum(look["n_urls"] > 1 for look in looks),
            "near: look like another": len(groups),
            "groups that look alike": len(set(groups.values())),
            "bits": bits,
        },
        images=image_store,
    )
