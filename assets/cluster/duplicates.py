"""Deduplication of images (`cluster.duplicates`): files under several URLs, and near-duplicates."""

import dagster as dg

from assets.common.picture_copies import PAIRS, THUMBNAILS, ImageCopyFinder, candidate_columns
from assets.common.progress import StepProgress
from assets.common.ray_jobs import RowsOnRay, RowWorkSettings
from assets.common.tables import report, table_asset, write_rows
from assets.ingest import images
from methods.ingest.near_duplicates import duplicate_groups
from methods.ingest.picture_candidates import candidates
from resources.images.store import ImageStore
from resources.ray_rows.cluster import RayCluster
from resources.warehouse import Warehouse

TABLE = "cluster.duplicates"


@table_asset(TABLE, side_tables=[THUMBNAILS, PAIRS], kinds={"image"}, deps=[images], pool="memory")
def duplicates(
    context: dg.AssetExecutionContext,
    config: RowWorkSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    ray: dg.ResourceParam[RayCluster],
) -> dg.MaterializeResult:
    """Near-duplicate images: one file under several URLs, or re-encoded, scaled, cropped, framed,
    marked, mirrored or rotated copies.
    """
    hashes = warehouse.read("cluster/image_hashes").to_pylist()
    phash = {image["image_id"]: int(image["phash"], 16) for image in hashes}
    finder = ImageCopyFinder(
        warehouse,
        image_store,
        RowsOnRay(context, ray) if config.runner == "ray" else None,
    )
    coded = finder.coded(phash, StepProgress(context, "pictures").update)
    proposed = candidate_columns(coded.ids, candidates(coded.codes))
    pairs = finder.copies(coded, proposed, StepProgress(context, "pairs").update)
    groups = duplicate_groups(pairs)
    distance: dict[str, int] = {}
    for first, second in pairs:
        bits = (phash[first] ^ phash[second]).bit_count()
        for image_id in (first, second):
            distance[image_id] = min(bits, distance.get(image_id, bits))
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
    table = write_rows(warehouse, {TABLE: rows})
    return report(
        table,
        {
            "images": len(hashes),
            "exact: behind several URLs": sum(image["n_urls"] > 1 for image in hashes),
            "pairs compared": len(proposed),
            "near: look like another": len(groups),
            "groups that look alike": len(set(groups.values())),
        },
        images=image_store,
    )
