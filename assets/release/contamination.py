"""Train-test contamination: finds pages, images and texts that a benchmark shares with an instruction
set, and removes them from new releases.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from assets.common.picture_copies import copies_of
from assets.release.built import BuiltRelease, Row
from methods.contamination import BLOCKING, Content, ContentOverlap, Kind, content_of, find_overlap
from methods.quality.filtering import rows_without
from methods.quality.outcome import SHARED
from methods.release import ReviewPolicy, with_release_ids
from methods.release_card import card_of, settings_of
from resources.images.store import ImageStore
from resources.publishing.releases import ReleaseError
from resources.warehouse import Warehouse

Cards = Mapping[str, Mapping[str, Any]]
"""Rows of `release.releases`, by id."""
TABLE = "release.overlaps"
COLUMNS = ("name", "item_id", "turn", "kind", "what", "other_release_id", "other_item_id")
N_NAMED = 50
"""Items that a message names; longer lists end with "and N more"."""
COMPARED = {
    "images": ("image_id", "page_url"),
    "turns": ("turn", "question", "given"),
    "choices": ("position", "choice"),
    "references": ("turn", "kind", "reference"),
}
"""Tables of a release that are compared, with their columns."""

NAMES: Mapping[Kind, str] = {
    "page": "pages",
    "image": "images",
    "near_duplicate": "near-duplicate images",
    "question": "questions with their answers",
    "answer": "answers",
    "form_of_words": "forms of words with other answers",
    "phrases_of_answer": "answers in the same phrases",
}
"""Names of the kinds of overlap, in the order of messages."""


def current_overlap(
    warehouse: Warehouse, image_store: ImageStore, cards: Iterable[Mapping[str, Any]]
) -> list[ContentOverlap]:
    """Find pages, images and texts that benchmarks and instruction sets share.

    Args:
        warehouse: The tables.
        image_store: The images.
        cards: The rows of `release.releases` of the releases to compare.
    """
    of_kind = _by_kind(_contents(warehouse, {card["release_id"]: card for card in cards}))
    return list(find_overlap(*of_kind, _alike(warehouse, image_store, *of_kind)))


class OverlapFreeReleases(NamedTuple):
    """Releases after the overlap of both splits was removed.

    `built` are the releases to freeze; `current` is the id of the current release by name; `retired` is
    the reason by name if there is no current release any more; `rows` are those of `release.overlaps`.
    """

    built: list[BuiltRelease]
    current: dict[str, str]
    retired: dict[str, str]
    rows: list[Row]


def without_overlap(
    warehouse: Warehouse,
    image_store: ImageStore,
    built: Sequence[BuiltRelease],
    before: Mapping[str, str],
    pinned: Mapping[str, str],
    reviewed: ReviewPolicy,
) -> OverlapFreeReleases:
    """Remove the overlap of benchmarks and instruction sets from the built releases.

    From a built instruction set, the question-answer pairs are removed, or the whole dialogues if their
    pages or images are in a benchmark. An instruction set of an earlier run with overlap is no longer
    current. A pinned instruction set cannot change, so the items are removed from the built benchmark.
    Whether a text counts as shared depends on how many items have it, so the comparison is repeated
    until it finds nothing.

    Args:
        warehouse: The tables.
        image_store: The images.
        built: The built releases.
        before: The current releases of an earlier run, by name.
        pinned: The pinned releases, by name.
        reviewed: The review policy.

    Returns:
        The releases, and what was removed.

    Raises:
        ReleaseError: A pinned instruction set overlaps with a benchmark that is not built now.
    """
    work = _OverlapRemoval(warehouse, built, before, pinned)
    alike = _alike(warehouse, image_store, *work.contents())
    while True:
        if not (forbidden := blocking_overlap(find_overlap(*work.contents(), alike))):
            return work.cleared()
        work.lose(forbidden, reviewed)


class _OverlapRemoval:
    """Removes overlap from releases step by step; built and existing releases by name."""

    def __init__(
        self,
        warehouse: Warehouse,
        built: Sequence[BuiltRelease],
        before: Mapping[str, str],
        pinned: Mapping[str, str],
    ):
        self._built = {made.name: made for made in built}
        self._pinned = set(pinned.values())
        self.to_freeze = {made.name: made for made in built if made.name not in pinned}
        release_ids = {**before, **pinned}
        self.existing = {
            name: release_id
            for name, release_id in release_ids.items()
            if name not in self.to_freeze
        }
        cards = {row["release_id"]: row for row in warehouse.read("release/all").to_pylist()}
        self._cards = {release_id: cards[release_id] for release_id in self.existing.values()}
        self._contents = _contents(warehouse, self._cards)
        self._lost: dict[str, dict[str, set[int | None]]] = defaultdict(lambda: defaultdict(set))
        self.retired: dict[str, str] = {}
        self.rows: list[Row] = []

    def contents(self) -> tuple[list[Content], list[Content]]:
        """Return the content of the benchmarks and of the instruction sets that would be current."""
        for release in self.to_freeze.values():
            if (release_id := release.release.release_id) not in self._contents:
                kind = "benchmark" if release.edition.benchmark else "instruction"
                self._contents[release_id] = (kind, content_of(release_id, release.release.rows))
        current = sorted(self.current().values())
        return _by_kind({release_id: self._contents[release_id] for release_id in current})

    def current(self) -> dict[str, str]:
        """Return the id of the release that would be current, by name."""
        built_ids = {name: built.release.release_id for name, built in self.to_freeze.items()}
        return {**built_ids, **self.existing}

    def lose(self, forbidden: Sequence[ContentOverlap], reviewed: ReviewPolicy) -> None:
        """Remove overlap from the releases. Raises ReleaseError, see `without_overlap`."""
        names = {release_id: name for name, release_id in self.current().items()}
        lost: list[tuple[str, str, int | None]] = []
        refused = []
        for overlap in forbidden:
            benchmark, instruction = names[overlap.benchmark], names[overlap.instruction]
            if overlap.instruction not in self._pinned:
                turn = self._first_number(instruction, overlap.instruction_item, overlap.turn)
                lost.append((instruction, overlap.instruction_item, turn))
                other = (overlap.benchmark, overlap.item)
            elif benchmark in self.to_freeze:
                lost.append((benchmark, overlap.item, None))
                other = (overlap.instruction, overlap.instruction_item)
            else:
                refused.append(overlap)
                continue
            row = (*lost[-1], overlap.kind, overlap.what, *other)
            self.rows.append(dict(zip(COLUMNS, row, strict=True)))
        if refused:
            raise ReleaseError(
                f"Nothing is frozen: {pinned_overlap_warnings(refused, self._cards)}"
            )
        for name, item_id, turn in lost:
            self._lost[name][item_id].add(turn)
        for name in sorted({name for name, *_ in lost}):
            if name in self.to_freeze:
                self._rebuild(name, reviewed)
            else:
                self.retired[name] = (
                    f"{self.existing.pop(name)} was made earlier and shares something with a "
                    "benchmark: it is no longer current."
                )

    def _first_number(self, name: str, item_id: str, turn: int | None) -> int | None:
        """Return the number that a turn had before other turns of its dialogue were removed."""
        if turn is None or not (gone := self._lost[name][item_id]):
            return turn
        rows = self._built[name].release.rows["turns"]
        turns = sorted(row["turn"] for row in rows if row["item_id"] == item_id)
        return [number for number in turns if number not in gone][turn - 1]

    def _rebuild(self, name: str, reviewed: ReviewPolicy) -> None:
        built = self._built[name]
        rows, gone = rows_without(built.release.rows, self._lost[name])
        if not rows["items"]:
            del self.to_freeze[name]
            self.retired[name] = (
                f"Every item of {name} shares something with a release of the other split: no {name} "
                "is current."
            )
            return
        counts = {f"{SHARED}{what}": n for what, n in gone.items() if n}
        release = replace(
            with_release_ids(name, reviewed, built.edition, rows), originals=built.release.originals
        )
        quality = {**(built.quality or {}), **counts}
        self.to_freeze[name] = built._replace(release=release, quality=quality)

    def cleared(self) -> OverlapFreeReleases:
        """Return the result. A built release whose name is pinned to another release is frozen
        unchanged.
        """
        built = [
            self.to_freeze.get(name, as_built)
            for name, as_built in self._built.items()
            if name not in self.retired
        ]
        return OverlapFreeReleases(built, self.current(), self.retired, self.rows)


Contents = dict[str, tuple[str, Content]]
"""Kind and content of releases, by id."""


def _contents(warehouse: Warehouse, cards: Cards) -> Contents:
    """Read the content of stored releases for the comparison."""
    tables: dict[str, Any] = {release_id: {table: [] for table in COMPARED} for release_id in cards}
    with warehouse.kept_open():
        for table, columns in COMPARED.items() if tables else ():
            rows = warehouse.select(
                f"release.{table}",
                "release_id",
                "item_id",
                *columns,
                order="ALL",
                release_id=list(tables),
            )
            for row in rows.to_pylist():
                tables[row["release_id"]][table].append(row)
    return {
        release_id: (
            card["kind"],
            content_of(release_id, tables[release_id], imported=card["origin"] == "imported"),
        )
        for release_id, card in cards.items()
    }


def _by_kind(contents: Contents) -> tuple[list[Content], list[Content]]:
    benchmarks, instructions = (
        [content for kind, content in contents.values() if kind == wanted]
        for wanted in ("benchmark", "instruction")
    )
    return benchmarks, instructions


def _alike(
    warehouse: Warehouse,
    image_store: ImageStore,
    benchmarks: Sequence[Content],
    instructions: Sequence[Content],
) -> dict[str, list[str]]:
    """Find the images of benchmarks that each image of an instruction set equals or is a copy of."""
    tested, learned = (
        {image for content in contents for image in content.images}
        for contents in (benchmarks, instructions)
    )
    return copies_of(warehouse, image_store, learned, tested) if tested and learned else {}


def blocking_overlap(overlaps: Iterable[ContentOverlap]) -> list[ContentOverlap]:
    """Return the overlaps of kinds that are not allowed."""
    return [overlap for overlap in overlaps if overlap.kind in BLOCKING]


def pinned_overlap_warnings(forbidden: Sequence[ContentOverlap], cards: Cards) -> str:
    """Return a message on the overlap with a pinned instruction set, and what to do about it.

    It names the pair of releases with the most overlaps. `cards` are rows of releases by id.
    """
    pairs = Counter((overlap.benchmark, overlap.instruction) for overlap in forbidden)
    (benchmark, instruction), _ = max(pairs.items(), key=lambda pair: (pair[1], pair[0]))
    overlaps = [
        overlap
        for overlap in forbidden
        if (overlap.benchmark, overlap.instruction) == (benchmark, instruction)
    ]
    items = sorted({overlap.item for overlap in overlaps})
    n_more = len(items) - N_NAMED
    named = ", ".join(items[:N_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")
    card, name = card_of(cards[benchmark]), cards[instruction]["name"]
    file = settings_of(card).get("release.releases.file", "its file")
    take_out = (
        f"take {named} out of {file} and import that as before (vlm-loom release import), or "
    )
    more = (
        f" (and {len(pairs) - 1} more pairs of releases share something)" if len(pairs) > 1 else ""
    )
    return (
        f"{instruction}, which is pinned, has {overlap_in_words(overlaps)} of {benchmark}, of item "
        f"{named}{more}: {take_out if card.get('origin') == 'imported' else ''}let {name} be rebuilt "
        f"(vlm-loom release unpin {name}), and run the job release again."
    )


def left_out(rows: Iterable[Row]) -> dict[str, int]:
    """Count the things left out of each release by kind, as metadata of the run."""
    things = {(row["name"], row["kind"], row["item_id"], row["turn"]) for row in rows}
    n = Counter((name, kind) for name, kind, *_ in things)
    return {
        f"left out of {name} as shared, {NAMES[kind]}": n[name, kind] for name, kind in sorted(n)
    }


def overlap_in_words(overlaps: Iterable[ContentOverlap]) -> str:
    """Return the overlap as text, such as "images (2), answers (1)"."""
    counts = overlap_counts(overlaps)
    return ", ".join(f"{name} ({n})" for name, n in counts.items() if n) or "nothing"


def overlap_counts(overlaps: Iterable[ContentOverlap]) -> dict[str, int]:
    """Count shared things by the name of their kind; 0 for kinds without any."""
    things = {
        (overlap.kind, overlap.what, overlap.benchmark, overlap.instruction) for overlap in overlaps
    }
    of_kind = Counter(kind for kind, *_ in things)
    return {name: of_kind[kind] for kind, name in NAMES.items()}
