"""Near-duplicate detection of images, for all stages.

Thumbnails and results of comparisons are stored, so each image is decoded once and each pair compared
once. A result only depends on the two images, so all stages get the same one. A killed run keeps all
but its last batch.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assets.common.ray_jobs import RowsOnRay, RowWork
from assets.common.tables import write_rows
from methods.batched import batched
from methods.ids import content_id
from methods.ingest.image_check import ImageRejected
from methods.ingest.picture_candidates import Codes, Rows, candidates_between, codes, nearest_ways
from methods.ingest.picture_match import VERSION
from methods.ingest.picture_thumbnail import square
from resources.images.picture_comparison import ImageComparison, compare, thumbnail_of
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

THUMBNAILS, PAIRS = "cluster.picture_thumbnails", "cluster.picture_pairs"
LOOK_ON_WORKER = "resources.images.picture_comparison:look_on_worker"
COMPARE_ON_WORKER = "resources.images.picture_comparison:compare_on_worker"
PICTURES_AT_ONCE, PAIRS_AT_ONCE = 1_000, 10_000
"""Images, or pairs, of a batch that is stored at once: less than a minute of work."""
PAIRS_PER_JOB, PAIRS_PER_BLOCK = 20_000, 1_000
"""Pairs of one Ray job, which carries the thumbnails of both images, and pairs of a worker's block."""

Ids = tuple[str, str]
Row = dict[str, Any]
Progress = Callable[[int, int], None]
"""Receives the numbers of finished and of all images or pairs."""


def _silent(done: int, total: int) -> None:
    pass


class CodedImages(NamedTuple):
    """Ids of images, in order, and their codes."""

    ids: list[str]
    codes: Codes


class ImageCopyFinder:
    """Finds copies among stored images."""

    def __init__(
        self, warehouse: Warehouse, image_store: ImageStore, on_ray: RowsOnRay | None = None
    ):
        self._warehouse = warehouse
        self._on_ray = on_ray
        self._store = image_store

    def coded(self, image_ids: Iterable[str], progress: Progress = _silent) -> CodedImages:
        """Compute the codes of images from their thumbnails; missing thumbnails are created first.

        Args:
            image_ids: The images.
            progress: Receives the numbers of finished and of all images.

        Returns:
            The images that can be decoded, with their codes.

        Raises:
            ImageNotStored, ImageDamaged: An image of the store is missing or damaged.
        """
        wanted = sorted(set(image_ids))
        if self._on_ray is not None:
            self._look_on_ray(self._on_ray, wanted)
        ids: list[str] = []
        parts = [codes([])]
        done = 0
        for portion in batched(wanted, PICTURES_AT_ONCE):
            thumbnails = self._thumbnails(portion)
            new = {}
            for image_id in portion:
                if image_id not in thumbnails:
                    with suppress(ImageRejected):
                        new[image_id] = thumbnail_of(self._store, image_id)
            self._keep(
                THUMBNAILS,
                "image_id",
                [
                    {"image_id": image_id, "version": VERSION, "thumbnail": data}
                    for image_id, data in new.items()
                ],
            )
            thumbnails |= new
            decodable = sorted(thumbnails)
            ids += decodable
            parts.append(codes([square(thumbnails[one]).miniature() for one in decodable]))
            done += len(portion)
            progress(done, len(wanted))
        return CodedImages(ids, np.concatenate(parts))

    def _look_on_ray(self, on_ray: RowsOnRay, wanted: Sequence[str]) -> None:
        """Create missing thumbnails on Ray, unless there are too few for a job."""
        stored_ids: set[str] = set()
        for portion in batched(wanted, 16 * PICTURES_AT_ONCE):
            rows = self._warehouse.select(THUMBNAILS, "image_id", version=VERSION, image_id=portion)
            stored_ids.update(rows["image_id"].to_pylist())
        todo = pa.table({"image_id": [one for one in wanted if one not in stored_ids]})

        def store(looks: pa.Table) -> None:
            new_rows = looks.filter(pc.is_valid(looks["thumbnail"])).to_pylist()
            self._keep(THUMBNAILS, "image_id", [{**row, "version": VERSION} for row in new_rows])

        on_ray.run(
            RowWork(LOOK_ON_WORKER, {"version": VERSION}, PICTURES_AT_ONCE),
            todo.cast(pa.schema([("image_id", pa.string())])),
            store,
        )

    def copies(
        self, coded: CodedImages, proposed: Collection[Ids], progress: Progress = _silent
    ) -> list[Ids]:
        """Find the pairs that are copies of one image.

        Args:
            coded: All images of the pairs.
            proposed: The pairs to compare, each with the smaller id first.
            progress: Receives the numbers of finished and of all pairs.
        """
        copies: list[Ids] = []
        done = 0
        if self._on_ray is not None:
            self._compare_on_ray(self._on_ray, coded, proposed)
        for portion in batched(sorted(proposed), PAIRS_AT_ONCE):
            geometry_of = _geometries(coded, portion)
            key = {pair: content_id(*pair, *geometry) for pair, geometry in geometry_of.items()}
            is_same = self._known_pairs(key.values())
            rest = [pair for pair in portion if key[pair] not in is_same]
            thumbnails = self._thumbnails({image_id for pair in rest for image_id in pair})
            matches = compare([geometry_of[pair] for pair in rest], thumbnails)
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
        self, on_ray: RowsOnRay, coded: CodedImages, proposed: Collection[Ids]
    ) -> None:
        """Compare pairs without a stored result on Ray, unless there are too few for a job."""

        def store(compared: pa.Table) -> None:
            comparisons = compared.to_pylist()
            for row in comparisons:
                row["first_id"], row["second_id"] = sorted([row.pop("whole"), row.pop("part")])
            self._keep(PAIRS, "pair_id", [{**row, "version": VERSION} for row in comparisons])

        for of_job in batched(sorted(proposed), PAIRS_PER_JOB):
            geometries = {
                content_id(*pair, *geometry): geometry
                for pair, geometry in _geometries(coded, of_job).items()
            }
            is_same = self._known_pairs(geometries)
            unknown = {key: each for key, each in geometries.items() if key not in is_same}
            thumbnails = self._thumbnails(
                {image_id for each in unknown.values() for image_id in (each.whole, each.part)}
            )
            rows = [
                {
                    "pair_id": key,
                    **each._asdict(),
                    "whole_thumbnail": thumbnails[each.whole],
                    "part_thumbnail": thumbnails[each.part],
                }
                for key, each in unknown.items()
            ]
            on_ray.run(
                RowWork(COMPARE_ON_WORKER, {"version": VERSION}, PAIRS_PER_BLOCK),
                pa.Table.from_pylist(rows, _COMPARED),
                store,
            )

    def _thumbnails(self, image_ids: Iterable[str]) -> dict[str, bytes]:
        rows = self._warehouse.select(
            THUMBNAILS, "image_id", "thumbnail", version=VERSION, image_id=list(image_ids)
        )
        return dict(zip(rows["image_id"].to_pylist(), rows["thumbnail"].to_pylist(), strict=True))

    def _known_pairs(self, pair_ids: Iterable[str]) -> dict[str, bool]:
        rows = self._warehouse.select(
            PAIRS, "pair_id", "is_same", version=VERSION, pair_id=list(pair_ids)
        ).to_pylist()
        return {row["pair_id"]: row["is_same"] for row in rows}

    def _keep(self, table: str, key: str, rows: Sequence[Row]) -> None:
        if rows:
            write_rows(self._warehouse, {table: rows}, {key: [row[key] for row in rows]})


_COMPARED = pa.schema(
    {
        "pair_id": pa.string(),
        "whole": pa.string(),
        "part": pa.string(),
        "scale": pa.float64(),
        "turn": pa.string(),
        "whole_thumbnail": pa.binary(),
        "part_thumbnail": pa.binary(),
    }
)


def _geometries(coded: CodedImages, pairs: Sequence[Ids]) -> dict[Ids, ImageComparison]:
    """Return for each pair which image is the whole and which the part, with scale and orientation."""
    ids = coded.ids
    rows = [(bisect_left(ids, first), bisect_left(ids, second)) for first, second in pairs]
    ways = nearest_ways(coded.codes, rows)
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
    finder = ImageCopyFinder(warehouse, image_store)
    coded = finder.coded([*first, *second])
    mine, theirs = set(first), set(second)
    own_rows, their_rows = (
        [row for row, image_id in enumerate(coded.ids) if image_id in ids] for ids in (mine, theirs)
    )
    near = candidates_between(coded.codes[own_rows], coded.codes[their_rows])
    proposed = candidate_columns([coded.ids[row] for row in own_rows + their_rows], near)
    by_image = {image_id: [image_id] for image_id in mine & theirs}
    for pair in finder.copies(coded, proposed):
        for own_id, their_id in (pair, pair[::-1]):
            if own_id in mine and their_id in theirs:
                by_image.setdefault(own_id, []).append(their_id)
    return by_image
