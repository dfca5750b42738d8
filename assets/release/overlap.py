"""What benchmarks and instruction sets that are in force, or would be, have in common.

What belongs here: reading releases, and the sentence about what they share. How they are compared is
`methods/overlap.py`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from assets.common.picture_copies import copies_of
from assets.release.in_force import ReleaseError
from methods.overlap import BLOCKING, Content, Kind, Shared, content_of, shared
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
TABLES = ("images", "turns", "choices", "references")
"""Tables of a release that are compared."""

NAMES: Mapping[Kind, str] = {
    "page": "pages",
    "image": "images",
    "near_duplicate": "near-duplicate images",
    "question": "questions with their answers",
    "answer": "answers",
    "form_of_words": "forms of words with other answers",
    "phrases_of_answer": "answers in the same phrases",
}
"""The kinds of what is shared, in the order in which they are told."""


def shared_in_force(
    warehouse: Warehouse,
    image_store: ImageStore,
    kinds: Mapping[str, str],
    imported: Collection[str],
    new: Mapping[str, Rows] | None = None,
) -> list[Shared]:
    """All that benchmarks and instruction sets share; near-duplicates are copies of one picture.

    `kinds` says of each release, by its id, whether it is a benchmark or an instruction set, `imported`
    which ones were not built here. `new` are rows of releases that are not in the tables yet: with
    them, what two earlier ones share is left out.
    """
    new = new or {}
    contents: dict[str, list[Content]] = {"benchmark": [], "instruction": []}
    earlier = _rows_of(warehouse, sorted(kinds.keys() - new.keys()))
    for release_id, kind in sorted(kinds.items()):
        rows = new.get(release_id) or earlier[release_id]
        contents[kind].append(content_of(release_id, rows, imported=release_id in imported))
    if not all(contents.values()):
        return []
    images = {
        kind: {image for each in of for image in each.images} for kind, of in contents.items()
    }
    alike = copies_of(warehouse, image_store, images["instruction"], images["benchmark"])
    return [
        each
        for each in shared(contents["benchmark"], contents["instruction"], alike)
        if not new or each.benchmark in new or each.instruction in new
    ]


def _rows_of(warehouse: Warehouse, release_ids: Sequence[str]) -> dict[str, Rows]:
    """What releases in the tables are compared by, by their ids."""
    if not release_ids:
        return {}
    found: dict[str, Any] = {
        release_id: {table: [] for table in TABLES} for release_id in release_ids
    }
    where = {"release_ids": list(release_ids)}
    for table, rows in warehouse.read_rows("release/{}_compared", TABLES, where).items():
        for row in rows:
            found[row["release_id"]][table].append(row)
    return found


def blocking(found: Iterable[Shared]) -> list[Shared]:
    """Those of which there may be none."""
    return [each for each in found if each.kind in BLOCKING]


def require_no_overlap(found: Iterable[Shared]) -> None:
    """Raise ReleaseError if a benchmark and an instruction set share what they may not."""
    if not (forbidden := blocking(found)):
        return
    pairs = Counter((each.benchmark, each.instruction) for each in forbidden)
    (benchmark, instruction), _ = max(pairs.items(), key=lambda pair: (pair[1], pair[0]))
    of = [
        each for each in forbidden if (each.benchmark, each.instruction) == (benchmark, instruction)
    ]
    first = of[0]
    n_more = len(pairs) - 1
    others = f" So do {n_more} more pair{'s' if n_more > 1 else ''} of releases." if n_more else ""
    raise ReleaseError(
        f"Nothing is frozen: {benchmark} and {instruction} share {in_numbers(of)}, first of all "
        f"the {first.kind} {first.what[:80]!r} of items {first.item} and {first.of}.{others} Run the "
        "jobs from cluster to choice, so that they are made of their own sides; reject in review what "
        "shares a text; unpin or retire a release that is not made anew."
    )


def in_numbers(found: Iterable[Shared]) -> str:
    """How much of each kind is shared, in a sentence."""
    counts = counted(found)
    return ", ".join(f"{name} ({n})" for name, n in counts.items() if n) or "nothing"


def counted(found: Iterable[Shared]) -> dict[str, int]:
    """How many things of each kind are shared, by what they are called."""
    things = {(each.kind, each.what, each.benchmark, each.instruction) for each in found}
    of_kind = Counter(kind for kind, *_ in things)
    return {name: of_kind[kind] for kind, name in NAMES.items()}
