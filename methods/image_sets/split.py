"""The train/test split of a corpus: training (instruction) sets on one side, benchmarks on the other.

A benchmark must not contain what a model was trained on (contamination). So the corpus is divided
before any set is sampled.
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
"""Something that two images may share: its kind ("page", "image", "group" or "cluster") and its id."""
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
    """Ids of the clusters of its entries, sorted."""
    versions: tuple[str, ...] = ()
    """Ids of the same Wikipedia page in other languages; these need not be in the corpus."""

    @property
    def name(self) -> Key:
        """The identity of the image across runs: page and image."""
        return self.page_id, self.image_id


class SplitDecision(NamedTuple):
    """The split of an image of a page, and why. The split is None if the image is left out of both."""

    split: Kind | None
    reason: Reason


@dataclass(frozen=True)
class SplitSpec:
    """Settings of the split. With `by_cluster`, all images of a cluster are in one split."""

    benchmark_share: float
    by_cluster: bool = False
    seed: int = 0


@dataclass(frozen=True)
class ExternalContent:
    """Ids of the pages of imported benchmarks, and of images in the corpus that are equal or similar to
    images of imported benchmarks.
    """

    pages: Collection[str] = ()
    images: Collection[str] = ()


@dataclass(frozen=True)
class _Block:
    """Connected images that have no split yet and must be in the same one."""

    members: list[SplitImage] = field(default_factory=list)

    @property
    def name(self) -> Key:
        return min(member.name for member in self.members)

    def stratum(self, by_cluster: bool) -> str:
        """The stratum in which the share of the benchmark split is kept.

        The most frequent cluster; with `by_cluster` one stratum for all images in clusters. Images
        without a cluster are the stratum "".
        """
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

    Images are connected, and are in one split, if they are on the same page (in any language), are the
    same image or near-duplicates, or (if `spec.by_cluster`) are in the same cluster. An image keeps its
    split, even while it is not in the corpus. A new image joins the split of the images it is connected
    with; if they are in both splits, it is left out. Images connected with an imported benchmark are in
    the benchmark split. If they were in the training split before, they are left out of both from then
    on, because a model may have been trained on them.

    The other new images are split cluster by cluster, so that both splits have all topics. In each
    cluster, the first images in the order of a seeded hash join the benchmark split, as many as bring
    the whole corpus nearest to the wanted share. A single image makes no set, so each split gets either
    no image of a cluster or at least two unconnected images, if possible. Four unconnected images are
    in one split, because two in each split would only make pairs. The result does not depend on the
    order of the input.

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
    """Whether later runs keep the decision. Images connected with both splits are decided again."""
    return split.split is not None or split.reason == IMPORTED


def _keys(page_image: SplitImage, spec: SplitSpec) -> list[Key]:
    """The keys of an image. All images that share a key must be in one split."""
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
    """Names of images in the training split that are connected with an imported benchmark."""
    if not tested:
        return []
    # Without `by_cluster`: a shared topic does not displace an image, only a shared page or image.
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
    """The splits of each key. Keys of a displaced image are in both: it was in the training split, and
    an imported benchmark tests it.
    """
    splits_of_key: dict[Key, set[Kind]] = defaultdict(set)
    for key in tested:
        splits_of_key[key].add("benchmark")
    for name, split in decisions.items():
        # An image that left the corpus still reserves its page and its image for its split.
        for key in _keys(by_name.get(name, SplitImage(*name)), spec):
            splits_of_key[key] |= BOTH if split.split is None else {split.split}
    return splits_of_key


def _blocks(units: Iterable[SplitImage], spec: SplitSpec) -> list[_Block]:
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
    """Assign each free block to a split. Strata, and the blocks of each stratum, are in hash order.

    If rounding gives one split too much in a stratum, the following strata make up for it.
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
        # Sets are sampled within clusters. Outside clusters a split may have a single image.
        apart = stratum != "" and not spec.by_cluster
        n_first = _n_first(sizes, wanted, n_before if apart else None)
        wanted -= sum(sizes[:n_first])
        sampled += [(block, _kind(place < n_first)) for place, block in enumerate(blocks)]
    return sampled


def _kind(is_benchmark: bool) -> Kind:
    return "benchmark" if is_benchmark else "instruction"


def _n_first(sizes: Sequence[int], wanted: float, before: Mapping[Kind, int] | None) -> int:
    """Choose how many of the first blocks go to the benchmark split: their sizes sum up to about
    `wanted`.

    `before` is the number of pages that each split already has of the stratum. If it is given, no split
    ends with a single page if possible, and not both splits with two: they could only make pairs.
    """
    sums = [0, *accumulate(sizes)]

    def preference(n_first: int) -> tuple[int, bool, float, int]:
        pages: tuple[int, ...] = ()
        if before is not None:
            n_others = before["instruction"] + len(sizes) - n_first
            pages = (before["benchmark"] + n_first, n_others)
        return pages.count(1), pages == (2, 2), abs(sums[n_first] - wanted), n_first

    return min(range(len(sums)), key=preference)
