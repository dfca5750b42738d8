"""`cluster.duplicates`: images behind several URLs and near-duplicate images, over all shards.

What belongs here: reading hashes and pictures, remembering what was compared, and writing groups. Which
pictures may be copies is in `methods/ingest/picture_candidates.py`, whether they are in
`methods/ingest/picture_match.py`.
"""

import dagster as dg

from assets.common.automation import WHEN_READY
from assets.common.progress import StepProgress
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.ingest import images
from methods.ingest.near_duplicates import Pair, duplicate_groups, near_duplicates
from methods.ingest.picture_candidates import Candidate, Code, as_code, candidates, code
from methods.ingest.picture_match import Grey, best_match, grey_square
from resources.corpus.corpus import Corpus
from resources.images.store import ImageStore
from resources.warehouse import Warehouse, Write

TABLE, CODES, PAIRS = "cluster.duplicates", "cluster.picture_codes", "cluster.picture_pairs"
SQUARES_AT_ONCE = 2_000
"""Pictures kept in memory while pairs are compared: 64 KiB each."""


@table_asset(
    TABLE,
    side_tables=[CODES, PAIRS],
    kinds={"image"},
    deps=[images],
    automation_condition=WHEN_READY,
)
def duplicates(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    corpus: dg.ResourceParam[Corpus],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Images that are one file behind several URLs, or copies of one picture: re-encoded, scaled,
    cropped, marked or mirrored."""
    hashes = warehouse.read("cluster/image_hashes").to_pylist()
    bits = corpus.settings.images.near_duplicate_bits
    phash = {image["image_id"]: int(image["phash"], 16) for image in hashes}
    squares = _Squares(image_store)
    codes = _codes(context, warehouse, list(phash), squares)
    proposed = _proposed(codes, near_duplicates(list(phash), list(phash.values()), bits))
    compared = _compared(context, warehouse, proposed, list(codes), squares)
    pairs = [
        Pair(*ids, (phash[ids[0]] ^ phash[ids[1]]).bit_count())
        for ids, row in compared.items()
        if row["is_same"]
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
    coded = [{"image_id": image_id, "code": each.ravel()} for image_id, each in codes.items()]
    warehouse.replace_all(
        [
            Write(TABLE, table, {}),
            Write(CODES, rows_to_arrow(CODES, coded), {}),
            Write(PAIRS, rows_to_arrow(PAIRS, list(compared.values())), {}),
        ]
    )
    return report(
        table,
        {
            "images": len(hashes),
            "exact: behind several URLs": sum(image["n_urls"] > 1 for image in hashes),
            "pairs compared": len(compared),
            "near: look like another": len(groups),
            "groups that look alike": len(set(groups.values())),
            "bits": bits,
        },
        images=image_store,
    )


class _Squares:
    """Grey squares of stored pictures; the last ones are kept."""

    def __init__(self, store: ImageStore):
        self._store = store
        self._kept: dict[str, Grey] = {}

    def of(self, image_id: str) -> Grey:
        if image_id not in self._kept:
            if len(self._kept) >= SQUARES_AT_ONCE:
                del self._kept[next(iter(self._kept))]
            self._kept[image_id] = grey_square(self._store.read(image_id))
        return self._kept[image_id]


def _codes(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    image_ids: list[str],
    squares: _Squares,
) -> dict[str, Code]:
    """The codes of all pictures by id; those of earlier runs are not made again."""
    known = {
        row["image_id"]: as_code(row["code"])
        for row in warehouse.read("cluster/picture_codes").to_pylist()
    }
    progress = StepProgress(context, "pictures")
    made = {}
    for number, image_id in enumerate(image_ids, start=1):
        made[image_id] = known[image_id] if image_id in known else code(squares.of(image_id))
        progress.update(number, len(image_ids))
    return made


def _proposed(codes: dict[str, Code], by_hash: list[Pair]) -> dict[tuple[str, str], Candidate]:
    """Pairs to compare, by their ids in order: near by code, or by perceptual hash."""
    ids = list(codes)
    row_of = {image_id: row for row, image_id in enumerate(ids)}
    pairs = {
        (pair.first_id, pair.second_id): Candidate(
            row_of[pair.first_id], row_of[pair.second_id], 1.0, False
        )
        for pair in by_hash
    }
    for each in candidates(list(codes.values())):
        first, second = sorted((ids[each.whole], ids[each.part]))
        pairs[first, second] = each
    return pairs


def _compared(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    proposed: dict[tuple[str, str], Candidate],
    ids: list[str],
    squares: _Squares,
) -> dict[tuple[str, str], dict[str, object]]:
    """A row for each proposed pair; those of earlier runs are not compared again."""
    known = {
        (row["first_id"], row["second_id"]): row
        for row in warehouse.read("cluster/picture_pairs").to_pylist()
    }
    progress = StepProgress(context, "pairs")
    compared: dict[tuple[str, str], dict[str, object]] = {}
    for number, (pair, way) in enumerate(sorted(proposed.items()), start=1):
        row = known.get(pair)
        if row is None:
            whole, part = squares.of(ids[way.whole]), squares.of(ids[way.part])
            found = best_match(whole, part, way.scale, way.mirrored)
            row = {
                "first_id": pair[0],
                "second_id": pair[1],
                "coarse": found.coarse,
                "detail": found.detail,
                "common": found.common,
                "is_same": found.is_same,
            }
        compared[pair] = row
        progress.update(number, len(proposed))
    return compared
