"""Which pictures are copies of others, for all stages that ask: each picture is looked at once, and
each pair compared once, in a way that depends on its two pictures alone. So all stages get the same
answer, whoever asks first. What a killed run had found is kept, but for its last portion.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets.common.ray_jobs import RowsOnRay, RowWork
from assets.common.tables import rows_to_arrow
from methods.batched import batched
from methods.ids import content_id
from methods.ingest.image_check import ImageRejected
from methods.ingest.picture_candidates import (
    Codes,
    Rows,
    candidates_between,
    codes,
    nearest_ways,
)
from methods.ingest.picture_match import VERSION, Miniature
from resources.images.picture_comparison import ImageComparison, SquareImageCache, miniature_of
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

MINIATURES, PAIRS = "cluster.picture_miniatures", "cluster.picture_pairs"
LOOK_ON_WORKER = "resources.images.picture_comparison:look_on_worker"
COMPARE_ON_WORKER = "resources.images.picture_comparison:compare_on_worker"
PICTURES_AT_ONCE, PAIRS_AT_ONCE = 256, 1_000
"""Pictures and pairs of a portion: seconds of work."""
PAIRS_PER_JOB = 50_000
"""Pairs sent to a cluster at once, with the miniatures of both."""

Ids = tuple[str, str]
Row = dict[str, Any]
Progress = Callable[[int, int], None]
"""Told how many of how many are done."""


def _silent(done: int, total: int) -> None:
    pass


class ImageCopyFinder:
    """Stored pictures as they are compared."""

    def __init__(
        self, warehouse: Warehouse, image_store: ImageStore, on_ray: RowsOnRay | None = None
    ):
        self._warehouse = warehouse
        self._on_ray = on_ray
        self._squares = SquareImageCache(image_store)

    def miniatures(
        self, image_ids: Iterable[str], progress: Progress = _silent
    ) -> dict[str, Miniature]:
        """Return the miniatures of images by id, in order, without images that cannot be decoded.

        Args:
            image_ids: The images.
            progress: Reports the progress.

        Raises:
            ImageNotStored: An image is not in the store.
            ImageDamaged: A stored file is damaged.
        """
        wanted = sorted(set(image_ids))
        if self._on_ray is not None:
            self._look_on_ray(self._on_ray, wanted)
        miniatures: dict[str, Miniature] = {}
        for portion in batched(wanted, PICTURES_AT_ONCE):
            rows = self._warehouse.select(
                MINIATURES, "image_id", "grey", version=VERSION, image_id=portion
            ).to_pylist()
            grey_of = {row["image_id"]: row["grey"] for row in rows}
            rows_to_keep: list[Row] = []
            for image_id in portion:
                if image_id not in grey_of:
                    try:
                        grey = self._squares.get(image_id).miniature().tobytes()
                    except ImageRejected:
                        continue
                    rows_to_keep.append({"image_id": image_id, "version": VERSION, "grey": grey})
                    grey_of[image_id] = grey
            self._keep(MINIATURES, "image_id", rows_to_keep)
            for image_id in sorted(grey_of):
                miniatures[image_id] = miniature_of(grey_of[image_id])
            progress(min(len(wanted), len(miniatures)), len(wanted))
        return miniatures

    def _look_on_ray(self, on_ray: RowsOnRay, wanted: Sequence[str]) -> None:
        """Have the pictures looked at that have no miniature; what are too few for a job stay so."""
        stored_ids: set[str] = set()
        for portion in batched(wanted, 16 * PICTURES_AT_ONCE):
            rows = self._warehouse.select(MINIATURES, "image_id", version=VERSION, image_id=portion)
            stored_ids.update(rows["image_id"].to_pylist())
        todo = pa.table({"image_id": [one for one in wanted if one not in stored_ids]})

        def store(looks: pa.Table) -> None:
            new_rows = looks.filter(pc.is_valid(looks["grey"])).to_pylist()
            self._keep(MINIATURES, "image_id", [{**row, "version": VERSION} for row in new_rows])

        on_ray.run(
            RowWork(LOOK_ON_WORKER, {"version": VERSION}, PICTURES_AT_ONCE),
            todo.cast(pa.schema([("image_id", pa.string())])),
            store,
        )

    def copies(
        self,
        miniatures: Mapping[str, Miniature],
        proposed: Collection[Ids],
        progress: Progress = _silent,
    ) -> list[Ids]:
        """Return the pairs of ids that are copies of one image, the smaller id first.

        Args:
            miniatures: The miniatures by id.
            proposed: The pairs to compare.
            progress: Reports the progress.
        """
        copies: list[Ids] = []
        done = 0
        ids = sorted({image_id for pair in proposed for image_id in pair})
        of_pictures = codes([miniatures[image_id] for image_id in ids])
        if self._on_ray is not None:
            self._compare_on_ray(self._on_ray, miniatures, proposed, ids, of_pictures)
        for portion in batched(sorted(proposed), PAIRS_AT_ONCE):
            way_of = _ways(ids, of_pictures, portion)
            key = {pair: content_id(*pair, *way) for pair, way in way_of.items()}
            is_same = self._known_pairs(key.values())
            rest = [pair for pair in portion if key[pair] not in is_same]
            compared = [way_of[pair] for pair in rest]
            matches = self._squares.matches(
                compared,
                [miniatures[pair.whole] for pair in compared],
                [miniatures[pair.part] for pair in compared],
            )
            comparisons = [
                {
                    "pair_id": key[pair],
                    "first_id": pair[0],
                    "second_id": pair[1],
                    "version": VERSION,
                    **matched._asdict(),
                    "is_same": matched.is_same,
                }
                for pair, matched in zip(rest, matches, strict=True)
            ]
            self._keep(PAIRS, "pair_id", comparisons)
            is_same |= {row["pair_id"]: row["is_same"] for row in comparisons}
            copies += [pair for pair in portion if is_same[key[pair]]]
            done += len(portion)
            progress(done, len(proposed))
        return copies

    def _compare_on_ray(
        self,
        on_ray: RowsOnRay,
        miniatures: Mapping[str, Miniature],
        proposed: Collection[Ids],
        ids: Sequence[str],
        of_pictures: Codes,
    ) -> None:
        """Have the pairs compared that are not known; what are too few for a job stay so."""

        def store(compared: pa.Table) -> None:
            comparisons = compared.to_pylist()
            for row in comparisons:
                row["first_id"], row["second_id"] = sorted([row.pop("whole"), row.pop("part")])
            self._keep(PAIRS, "pair_id", [{**row, "version": VERSION} for row in comparisons])

        for of_job in batched(sorted(proposed), PAIRS_PER_JOB):
            way_of: dict[str, ImageComparison] = {}
            for portion in batched(of_job, PAIRS_AT_ONCE):
                ways = {
                    content_id(*pair, *way): way
                    for pair, way in _ways(ids, of_pictures, portion).items()
                }
                is_same = self._known_pairs(ways)
                way_of |= {key: way for key, way in ways.items() if key not in is_same}
            rows = [
                {
                    "pair_id": key,
                    **way._asdict(),
                    "whole_grey": miniatures[way.whole].tobytes(),
                    "part_grey": miniatures[way.part].tobytes(),
                }
                for key, way in way_of.items()
            ]
            on_ray.run(
                RowWork(COMPARE_ON_WORKER, {"version": VERSION}, PAIRS_AT_ONCE),
                pa.Table.from_pylist(rows, _COMPARED),
                store,
            )

    def _known_pairs(self, pair_ids: Iterable[str]) -> dict[str, bool]:
        rows = self._warehouse.select(
            PAIRS, "pair_id", "is_same", version=VERSION, pair_id=list(pair_ids)
        ).to_pylist()
        return {row["pair_id"]: row["is_same"] for row in rows}

    def _keep(self, table: str, key: str, rows: Sequence[Row]) -> None:
        if rows:
            self._warehouse.replace(
                table, rows_to_arrow(table, rows), {key: [row[key] for row in rows]}
            )


_COMPARED = pa.schema(
    {
        "pair_id": pa.string(),
        "whole": pa.string(),
        "part": pa.string(),
        "scale": pa.float64(),
        "turn": pa.string(),
        "whole_grey": pa.binary(),
        "part_grey": pa.binary(),
    }
)


def _ways(
    ids: Sequence[str], of_pictures: Codes, pairs: Sequence[Ids]
) -> dict[Ids, ImageComparison]:
    """How each of these pairs is compared; `of_pictures` are codes of the ids, which are in order."""
    rows = [(bisect_left(ids, first), bisect_left(ids, second)) for first, second in pairs]
    ways = nearest_ways(of_pictures, rows)
    return {
        pair: ImageComparison(ids[way.whole], ids[way.part], way.scale, way.turn)
        for pair, way in zip(pairs, ways, strict=True)
    }


def candidate_columns(ids: Sequence[str], candidates: Iterable[Rows]) -> set[Ids]:
    """Turn candidate rows into the pairs of ids that `ImageCopyFinder.copies` takes.

    Args:
        ids: The id of each row; an image may have several rows.
        candidates: The pairs of rows.

    Returns:
        Pairs of different ids, each in order.
    """
    proposed = set()
    for first, second in candidates:
        first_id, second_id = ids[first], ids[second]
        if first_id != second_id:
            proposed.add((min(first_id, second_id), max(first_id, second_id)))
    return proposed


def copies_of(
    warehouse: Warehouse, image_store: ImageStore, first: Collection[str], second: Collection[str]
) -> dict[str, list[str]]:
    """Find the images that are copies of others.

    Args:
        warehouse: The tables, which keep the results of comparisons.
        image_store: The images.
        first: Ids of images.
        second: Ids of the images to compare them with.

    Returns:
        For each image of `first` that is in `second` or has copies there: these images of `second`.
    """
    pictures = ImageCopyFinder(warehouse, image_store)
    miniatures = pictures.miniatures([*first, *second])
    mine, theirs = set(first), set(second)
    ones, others = (sorted(ids & miniatures.keys()) for ids in (mine, theirs))
    of_ones, of_others = (codes([miniatures[i] for i in ids]) for ids in (ones, others))
    near = candidates_between(of_ones, of_others)
    by_image = {image_id: [image_id] for image_id in mine & theirs}
    for pair in pictures.copies(miniatures, candidate_columns([*ones, *others], near)):
        for own_id, their_id in (pair, pair[::-1]):
            if own_id in mine and their_id in theirs:
                by_image.setdefault(own_id, []).append(their_id)
    return by_image
