"""What current and future benchmarks and instruction sets have in common, and releases without it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
"""Items that a sentence names."""
COMPARED = {
    "images": ("image_id", "page_url"),
    "turns": ("turn", "question", "given"),
    "choices": ("position", "choice"),
    "references": ("turn", "kind", "reference"),
}
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


def current_overlap(
    warehouse: Warehouse, image_store: ImageStore, cards: Iterable[Mapping[str, Any]]
) -> list[ContentOverlap]:
    """Find what benchmarks and instruction sets share. Near-duplicates are copies of one image.

    Args:
        warehouse: The tables.
        image_store: The images.
        cards: The rows of `release.releases` of the releases to compare.

    Returns:
        The shared pages, images and texts.
    """
    of_kind = _by_kind(_contents(warehouse, {card["release_id"]: card for card in cards}))
    return list(find_overlap(*of_kind, _alike(warehouse, image_store, *of_kind)))


class OverlapFreeReleases(NamedTuple):
    """Releases to be frozen, without what both splits have; the release of each name that comes into
    force or stays so; by name why there is none any more; rows of `release.overlaps`; and what is
    shared all the same and is no fault."""

    built: list[BuiltRelease]
    current: dict[str, str]
    retired: dict[str, str]
    rows: list[Row]
    shared: list[ContentOverlap]


def without_overlap(
    warehouse: Warehouse,
    image_store: ImageStore,
    built: Sequence[BuiltRelease],
    before: Mapping[str, str],
    pinned: Mapping[str, str],
    reviewed: ReviewPolicy,
) -> OverlapFreeReleases:
    """Remove from the built releases what a benchmark and an instruction set would share.

    A built instruction set loses the pairs, or the dialogues whose pages or images are tested; one that
    stays from an earlier run is not current any more. A pinned one cannot lose anything, so a built
    benchmark loses the items. Texts are weighed by how many others have them, so the rest is compared
    again until nothing is found.

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
        ReleaseError: Pinned releases share something.
    """
    work = _OverlapRemoval(warehouse, built, before, pinned)
    alike = _alike(warehouse, image_store, *work.contents())
    while True:
        overlaps = list(find_overlap(*work.contents(), alike))
        if not (forbidden := blocking_overlap(overlaps)):
            return work.cleared(overlaps)
        work.lose(forbidden, reviewed)


class _OverlapRemoval:
    """Releases while they lose what is shared: those that are made, and those that stay, by name."""

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
        """Benchmarks and instruction sets that would be current."""
        for release in self.to_freeze.values():
            if (release_id := release.release.release_id) not in self._contents:
                kind = "benchmark" if release.edition.benchmark else "instruction"
                self._contents[release_id] = (kind, content_of(release_id, release.release.rows))
        current = sorted(self.current().values())
        return _by_kind({release_id: self._contents[release_id] for release_id in current})

    def current(self) -> dict[str, str]:
        """The id of the release of each name."""
        built_ids = {name: built.release.release_id for name, built in self.to_freeze.items()}
        return {**built_ids, **self.existing}

    def lose(self, forbidden: Sequence[ContentOverlap], reviewed: ReviewPolicy) -> None:
        """Take out of the releases what they share. Raises ReleaseError, see `without_overlap`."""
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
        """The number that a turn had before others were taken out of its dialogue."""
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
        release = with_release_ids(name, reviewed, built.edition, rows)
        quality = {**(built.quality or {}), **counts}
        self.to_freeze[name] = built._replace(release=release, quality=quality)

    def cleared(self, overlaps: list[ContentOverlap]) -> OverlapFreeReleases:
        """What is left; a release whose name is pinned to another one is frozen as it was built."""
        built = [
            self.to_freeze.get(name, as_built)
            for name, as_built in self._built.items()
            if name not in self.retired
        ]
        return OverlapFreeReleases(built, self.current(), self.retired, self.rows, overlaps)


Contents = dict[str, tuple[str, Content]]
"""Kind and content of releases, by id."""


def _contents(warehouse: Warehouse, cards: Cards) -> Contents:
    """What releases in the tables are compared by."""
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
    """Images of instruction sets that are one of a benchmark, or a copy of one, and all of these."""
    tested, learned = (
        {image for content in contents for image in content.images}
        for contents in (benchmarks, instructions)
    )
    return copies_of(warehouse, image_store, learned, tested) if tested and learned else {}


def blocking_overlap(overlaps: Iterable[ContentOverlap]) -> list[ContentOverlap]:
    """Those of which there may be none."""
    return [overlap for overlap in overlaps if overlap.kind in BLOCKING]


def pinned_overlap_warnings(forbidden: Sequence[ContentOverlap], cards: Cards) -> str:
    """What a pinned release shares with one that is not made again, and what to do, in a sentence.

    `cards` are those of the releases, by id.
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
    """How much of each kind was left out of which release, as metadata."""
    things = {(row["name"], row["kind"], row["item_id"], row["turn"]) for row in rows}
    n = Counter((name, kind) for name, kind, *_ in things)
    return {
        f"left out of {name} as shared, {NAMES[kind]}": n[name, kind] for name, kind in sorted(n)
    }


def overlap_in_words(overlaps: Iterable[ContentOverlap]) -> str:
    """How much of each kind is shared, in a sentence."""
    counts = overlap_counts(overlaps)
    return ", ".join(f"{name} ({n})" for name, n in counts.items() if n) or "nothing"


def overlap_counts(overlaps: Iterable[ContentOverlap]) -> dict[str, int]:
    """How many things of each kind are shared, by what they are called."""
    things = {
        (overlap.kind, overlap.what, overlap.benchmark, overlap.instruction) for overlap in overlaps
    }
    of_kind = Counter(kind for kind, *_ in things)
    return {name: of_kind[kind] for kind, name in NAMES.items()}
