"""Which pictures are copies of others, for all stages that ask: each picture is looked at once, and
each pair compared once, whoever asks first.

What belongs here: reading pictures, and what `cluster.picture_codes` and `cluster.picture_pairs` hold.
Which pictures may be copies is `methods/ingest/picture_candidates.py`, whether they are
`methods/ingest/picture_match.py`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from assets.common.tables import rows_to_arrow
from methods.ingest.image_check import ImageRejected, truncated_on_error
from methods.ingest.picture_candidates import (
    Candidate,
    Code,
    as_code,
    candidates_between,
    code,
)
from methods.ingest.picture_match import Square, best_match, square
from resources.images.store import ImageStore
from resources.warehouse import Warehouse, Write

CODES, PAIRS = "cluster.picture_codes", "cluster.picture_pairs"
SQUARES_AT_ONCE = 2_000
"""Pictures kept in memory while pairs are compared: 64 KiB each."""

Ids = tuple[str, str]
Row = dict[str, Any]
Progress = Callable[[int, int], None]
"""Told how many of how many are done."""


def _silent(done: int, total: int) -> None:
    pass


class Pictures:
    """Stored pictures as they are compared. `writes` has what was not known before."""

    def __init__(self, warehouse: Warehouse, image_store: ImageStore):
        self._warehouse = warehouse
        self._store = image_store
        self._kept: dict[str, Square] = {}
        self.writes: list[Write] = []

    def codes(self, image_ids: Iterable[str], progress: Progress = _silent) -> dict[str, Code]:
        """The codes of pictures by id; one that cannot be decoded has none.

        Raises ImageNotStored, ImageDamaged.
        """
        wanted = sorted(set(image_ids))
        known = {
            row["image_id"]: as_code(row["code"])
            for row in self._warehouse.read(
                "cluster/picture_codes", {"image_ids": wanted}
            ).to_pylist()
        }
        made: dict[str, Code] = {}
        for number, image_id in enumerate(wanted, start=1):
            if image_id not in known:
                try:
                    made[image_id] = code(self._square(image_id).grey)
                except ImageRejected:
                    continue
            progress(number, len(wanted))
        if made:
            rows = [{"image_id": image_id, "code": each.ravel()} for image_id, each in made.items()]
            self.writes.append(Write(CODES, rows_to_arrow(CODES, rows), {"image_id": list(made)}))
        return known | made

    def compared(
        self, proposed: Mapping[Ids, tuple[Ids, Candidate]], progress: Progress = _silent
    ) -> dict[Ids, Row]:
        """A row of `cluster.picture_pairs` for each pair of ids, the smaller id first.

        With each pair stand the ids of `whole` and `part` of its candidate.
        """
        known = {
            (row["first_id"], row["second_id"]): row
            for row in self._warehouse.read("cluster/picture_pairs").to_pylist()
        }
        made: dict[Ids, Row] = {}
        for number, (pair, (ids, way)) in enumerate(sorted(proposed.items()), start=1):
            if pair not in known:
                whole, part = (self._square(image_id) for image_id in ids)
                found = best_match(whole, part, way.scale, way.mirrored)
                made[pair] = {
                    "first_id": pair[0],
                    "second_id": pair[1],
                    "coarse": found.coarse,
                    "detail": found.detail,
                    "common": found.common,
                    "differing": found.differing,
                    "is_same": found.is_same,
                }
            progress(number, len(proposed))
        if made:
            rows = rows_to_arrow(PAIRS, list((known | made).values()))
            self.writes.append(Write(PAIRS, rows, {}))
        return {pair: (known | made)[pair] for pair in proposed}

    def _square(self, image_id: str) -> Square:
        if image_id not in self._kept:
            if len(self._kept) >= SQUARES_AT_ONCE:
                del self._kept[next(iter(self._kept))]
            data = self._store.read(image_id)
            with truncated_on_error("picture"):
                self._kept[image_id] = square(data)
        return self._kept[image_id]


def paired(ids: Sequence[str], found: Iterable[Candidate]) -> dict[Ids, tuple[Ids, Candidate]]:
    """What `Pictures.compared` is given, of candidates whose rows are those of `ids`.

    A picture that has several rows is no candidate with itself.
    """
    proposed = {}
    for each in found:
        whole, part = ids[each.whole], ids[each.part]
        if whole != part:
            proposed[min(whole, part), max(whole, part)] = ((whole, part), each)
    return proposed


def copies_of(
    warehouse: Warehouse, image_store: ImageStore, first: Collection[str], second: Collection[str]
) -> dict[str, str]:
    """Each image of `first` that is one of `second`, or a copy of one, and which one."""
    pictures = Pictures(warehouse, image_store)
    codes = pictures.codes([*first, *second])
    mine, theirs = set(first), set(second)
    ones, others = (sorted(of & codes.keys()) for of in (mine, theirs))
    near = candidates_between([codes[i] for i in ones], [codes[i] for i in others])
    found = {image_id: image_id for image_id in mine & theirs}
    for pair, row in pictures.compared(paired([*ones, *others], near)).items():
        for one, other in (pair, pair[::-1]):
            if row["is_same"] and one in mine and other in theirs:
                found.setdefault(one, other)
    if pictures.writes:
        warehouse.replace_all(pictures.writes)
    return found
