"""Deduplication, `cluster.duplicates`: images behind several URLs and near-duplicates of all shards."""

from collections.abc import Iterable, Mapping

import dagster as dg

from assets.common.automation import WHEN_READY
from assets.common.picture_copies import MINIATURES, PAIRS, Ids, ImageCopyFinder, candidate_columns
from assets.common.progress import StepProgress
from assets.common.ray_jobs import RowsOnRay, RowWorkSettings
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.ingest import corpus_files, images
from methods.ingest.near_duplicates import NearDuplicatePair, duplicate_groups, near_duplicates
from methods.ingest.picture_candidates import candidates, codes
from methods.ingest.picture_match import Miniature
from resources.corpus.corpus import Corpus
from resources.images.store import ImageStore
from resources.ray_rows.cluster import RayCluster
from resources.warehouse import Warehouse

TABLE = "cluster.duplicates"


@table_asset(
    TABLE,
    side_tables=[MINIATURES, PAIRS],
    kinds={"image"},
    deps=[images, corpus_files.key],
    automation_condition=WHEN_READY,
    pool="memory",
)
def duplicates(
    context: dg.AssetExecutionContext,
    config: RowWorkSettings,
    warehouse: dg.ResourceParam[Warehouse],
    corpus: dg.ResourceParam[Corpus],
    image_store: dg.ResourceParam[ImageStore],
    ray: dg.ResourceParam[RayCluster],
) -> dg.MaterializeResult:
    """Near-duplicate images: one file under several URLs, or re-encoded, scaled, cropped, framed,
    marked, mirrored or rotated copies.
    """
    hashes = warehouse.read("cluster/image_hashes").to_pylist()
    bits = corpus.settings.images.near_duplicate_bits
    phash = {image["image_id"]: int(image["phash"], 16) for image in hashes}
    pictures = ImageCopyFinder(
        warehouse,
        image_store,
        RowsOnRay(context, ray) if config.runner == "ray" else None,
    )
    miniatures = pictures.miniatures(phash, StepProgress(context, "pictures").update)
    proposed = _proposed(miniatures, near_duplicates(list(phash), list(phash.values()), bits))
    pairs = [
        NearDuplicatePair(*ids, (phash[ids[0]] ^ phash[ids[1]]).bit_count())
        for ids in pictures.copies(miniatures, proposed, StepProgress(context, "pairs").update)
    ]
    groups = duplicate_groups(list(phash), pairs)
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
    table = rows_to_arrow(TABLE, rows)
    warehouse.replace(TABLE, table)
    return report(
        table,
        {
            "images": len(hashes),
            "exact: behind several URLs": sum(image["n_urls"] > 1 for image in hashes),
            "pairs compared": len(proposed),
            "near: look like another": len(groups),
            "groups that look alike": len(set(groups.values())),
            "bits": bits,
        },
        images=image_store,
    )


def _proposed(
    miniatures: Mapping[str, Miniature], by_hash: Iterable[NearDuplicatePair]
) -> set[Ids]:
    """Pairs to compare, by their ids in order: near by code, or by perceptual hash."""
    near = {
        (pair.first_id, pair.second_id)
        for pair in by_hash
        if pair.first_id in miniatures and pair.second_id in miniatures
    }
    return near | candidate_columns(list(miniatures), candidates(codes(list(miniatures.values()))))
