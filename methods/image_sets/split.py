"""The train/test split of a corpus between benchmarks and instruction sets.

A model that was trained on the instruction set must not meet its contents in a benchmark, so the corpus
is divided before anything is sampled.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, NamedTuple

from methods.components import components
from methods.ids import content_id
from methods.image_sets.spec import Kind

Key = tuple[str, str]
"""What images of pages may have in common: its kind (page, image, group, cluster) and its id."""
Reason = Literal["sampled", "joined", "bridges_splits", "in_imported_benchmark"]
BRIDGES: Reason = "bridges_splits"
IMPORTED: Reason = "in_imported_benchmark"
BOTH: frozenset[Kind] = frozenset({"benchmark", "instruction"})


class SplitImage(NamedTuple):
    """One image on one page, with the keys by which it is grouped."""

    page_id: str
    image_id: str
    duplicate_group: str | None = None
    """Id of the group of near-duplicates that the image is in; None if it has no near-duplicate."""
    clusters: tuple[str, ...] = ()
    """Clusters of the entries that are made of it, sorted."""
    versions: tuple[str, ...] = ()
    """Ids of the pages that are this page in other languages; they need not be in the corpus."""

    @property
    def name(self) -> Key:
        """The identity of the image across runs: page and image."""
        return self.page_id, self.image_id


class SplitDecision(NamedTuple):
    """The split of an image of a page; None if it is left out of both, for the reason."""

    split: Kind | None
    reason: Reason


@dataclass(frozen=True)
class SplitSpec:
    """How a corpus is divided. With `by_cluster` a cluster is in one split as a whole."""

    benchmark_share: float
    by_cluster: bool = False
    seed: int = 0


@dataclass(frozen=True)
class ExternalContent:
    """The contents of imported benchmarks: ids of pages, and of images that are equal or similar to
    theirs.
    """

    pages: Collection[str] = ()
    images: Collection[str] = ()


@dataclass(frozen=True)
class _Block:
    """Images of pages that hang together and have no split yet."""

    members: list[SplitImage] = field(default_factory=list)

    @property
    def name(self) -> Key:
        return min(member.name for member in self.members)

    def stratum(self, by_cluster: bool) -> str:
        """What the share is kept in: each cluster by itself, or all that is in a cluster together."""
        counts = Counter(cluster for member in self.members for cluster in member.clusters)
        if not counts:
            return ""
        return (
            "clusters"
            if by_cluster
            else min(counts, key=lambda cluster: (-counts[cluster], cluster))
        )


def split_corpus(
    corpus: Sequence[SplitImage],
    spec: SplitSpec,
    prior: Mapping[Key, SplitDecision] | None = None,
    tested: ExternalContent | None = None,
) -> dict[Key, SplitDecision]:
    """Assign the images of pages to the benchmark or the training split.

    Images that share a page in any language or an image, that are near-duplicates, or that are in one
    cluster (if `spec.by_cluster`) are in one split. An image keeps its split, even while it is not in
    the corpus. A new image joins the split of the images it is connected with; if those are in both, it
    is left out. Images connected with an imported benchmark are in the benchmark split; if they were in
    the other one before, they are left out from then on, as a model may have been trained on them.

    Other new images are taken in the order of a seeded hash: of each cluster as many join the benchmark
    split as bring the whole corpus nearest to the wanted share, so that both splits have all topics. A
    split gets no image of a cluster or at least two that are not connected, as one image makes no set;
    of a single one there is no other way. Four that are not connected are in one split, as two in each
    would only make pairs. The result does not depend on the order of the input.

    Args:
        corpus: The images of pages.
        spec: The share of the benchmark split, the seed, and what connects images.
        prior: The decisions of an earlier run, by image.
        tested: The content of imported benchmarks.

    Returns:
        The decision for each image; a split of None means that the image is left out.
    """
    decisions = dict(prior or {})
    tested_keys = _keys_of(tested or ExternalContent())
    by_name = {page_image.name: page_image for page_image in sorted(corpus)}
    for name in _displaced(by_name.values(), decisions, tested_keys, spec):
        decisions[name] = SplitDecision(None, IMPORTED)
    split_of = {name: split for name, split in decisions.items() if _is_settled(split)}
    splits_of_key = _taken(split_of, by_name, tested_keys, spec)
    newcomers = [page_image for name, page_image in by_name.items() if name not in split_of]
    free: list[_Block] = []
    for block in _blocks(newcomers, spec):
        met = {
            split
            for page_image in block.members
            for key in _keys(page_image, spec)
            for split in splits_of_key[key]
        }
        if not met:
            free.append(block)
        else:
            split: SplitDecision = (
                SplitDecision(None, BRIDGES) if len(met) > 1 else SplitDecision(met.pop(), "joined")
            )
            split_of.update((page_image.name, split) for page_image in block.members)
    for block, sampled_split in _sampled(free, split_of, by_name, spec):
        split_of.update(
            (page_image.name, SplitDecision(sampled_split, "sampled"))
            for page_image in block.members
        )
    return split_of


def _is_settled(split: SplitDecision) -> bool:
    """Whether it stays; an image that bridged the splits is decided again in each run."""
    return split.split is not None or split.reason == IMPORTED


def _keys(page_image: SplitImage, spec: SplitSpec) -> list[Key]:
    """What others that share it have to be in one split with."""
    keys = [("page", page_id) for page_id in (page_image.page_id, *page_image.versions)]
    keys.append(("image", page_image.image_id))
    if page_image.duplicate_group is not None:
        keys.append(("group", page_image.duplicate_group))
    if spec.by_cluster:
        keys += [("cluster", cluster_id) for cluster_id in page_image.clusters]
    return keys


def _keys_of(tested: ExternalContent) -> set[Key]:
    return {("page", page) for page in tested.pages} | {("image", image) for image in tested.images}


def _displaced(
    corpus: Iterable[SplitImage],
    decisions: Mapping[Key, SplitDecision],
    tested: set[Key],
    spec: SplitSpec,
) -> list[Key]:
    """Names in the instruction split that hang together with an imported benchmark."""
    if not tested:
        return []
    # Which topics a benchmark has is no reason: only pages and images are.
    within = SplitSpec(spec.benchmark_share)
    return [
        page_image.name
        for block in _blocks(corpus, within)
        if any(key in tested for page_image in block.members for key in _keys(page_image, within))
        for page_image in block.members
        if page_image.name in decisions and decisions[page_image.name].split == "instruction"
    ]


def _taken(
    decisions: Mapping[Key, SplitDecision],
    by_name: Mapping[Key, SplitImage],
    tested: set[Key],
    spec: SplitSpec,
) -> dict[Key, set[Kind]]:
    """The splits of each key; what was displaced was in one split and is tested in the other."""
    splits_of_key: dict[Key, set[Kind]] = defaultdict(set)
    for key in tested:
        splits_of_key[key].add("benchmark")
    for name, split in decisions.items():
        # What is not in the corpus any more keeps the split of its page and its image.
        for key in _keys(by_name.get(name, SplitImage(*name)), spec):
            splits_of_key[key] |= BOTH if split.split is None else {split.split}
    return splits_of_key


def _blocks(units: Iterable[SplitImage], spec: SplitSpec) -> list[_Block]:
    """What hangs together, in a stable order."""
    listed = list(units)
    linked = components(
        (("page", page_image.page_id), key)
        for page_image in listed
        for key in _keys(page_image, spec)
    )
    blocks: dict[int, _Block] = defaultdict(_Block)
    for page_image in listed:
        blocks[linked["page", page_image.page_id]].members.append(page_image)
    return sorted(blocks.values(), key=lambda block: block.name)


def _sampled(
    free: Sequence[_Block],
    decisions: Mapping[Key, SplitDecision],
    by_name: Mapping[Key, SplitImage],
    spec: SplitSpec,
) -> list[tuple[_Block, Kind]]:
    """The split of each free block: strata in the order of a hash, the blocks of each in another one.

    What rounding gives to one split in a stratum is made up for in those that follow.
    """
    strata: dict[str, list[_Block]] = defaultdict(list)
    for block in free:
        strata[block.stratum(spec.by_cluster)].append(block)
    settled: dict[str, dict[Kind, list[SplitImage]]] = defaultdict(
        lambda: {"benchmark": [], "instruction": []}
    )
    for name, split in decisions.items():
        if split.split is not None and name in by_name:
            own_stratum = _Block([by_name[name]]).stratum(spec.by_cluster)
            settled[own_stratum][split.split].append(by_name[name])
    wanted, sampled = 0.0, []
    order = sorted(
        {*strata, *settled}, key=lambda stratum: content_id("stratum", spec.seed, stratum)
    )
    for stratum in order:
        blocks = sorted(
            strata[stratum], key=lambda block: content_id("side", spec.seed, block.name)
        )
        sizes = [len(block.members) for block in blocks]
        before = settled[stratum]
        n_before = {
            kind: len({page_image.page_id for page_image in before[kind]}) for kind in before
        }
        wanted += spec.benchmark_share * (sum(sizes) + sum(map(len, before.values())))
        wanted -= len(before["benchmark"])
        # Sets are sampled in clusters: elsewhere a single image is as good as two.
        apart = stratum != "" and not spec.by_cluster
        n_first = _n_first(sizes, wanted, n_before if apart else None)
        wanted -= sum(sizes[:n_first])
        sampled += [(block, _kind(place < n_first)) for place, block in enumerate(blocks)]
    return sampled


def _kind(is_benchmark: bool) -> Kind:
    return "benchmark" if is_benchmark else "instruction"


def _n_first(sizes: Sequence[int], wanted: float, before: Mapping[Kind, int] | None) -> int:
    """How many of the first blocks go to the benchmarks, so that their sizes sum up to about `wanted`.

    With `before`, the numbers of pages that the splits have, no split gets only one page if possible,
    and four pages stay together: two in each split would make pairs, and no larger set.
    """
    sums = [0, *accumulate(sizes)]

    def preference(n_first: int) -> tuple[int, bool, float, int]:
        pages: tuple[int, ...] = ()
        if before is not None:
            n_others = before["instruction"] + len(sizes) - n_first
            pages = (before["benchmark"] + n_first, n_others)
        return pages.count(1), pages == (2, 2), abs(sums[n_first] - wanted), n_first

    return min(range(len(sums)), key=preference)
