"""Building MMBench releases: the dev/test split of approved items, and the rows of a release."""

from collections.abc import Mapping, Sequence
from typing import Any

from methods.choice.published import ApprovedItem, build_release
from methods.ids import content_id
from methods.mmbench.published import HINT
from methods.mmbench.taxonomy import L3, abilities
from methods.release import Edition, Release, ReviewPolicy

DEV, TEST = SPLITS = ("dev", "test")
_DEV_OF_TEN = 4


def split_items(
    abilities: Mapping[str, str], before: Mapping[str, str], seed: int
) -> dict[str, str]:
    """Assign items to the dev and test splits, stratified by leaf ability.

    An item that has a split keeps it. The others are assigned by seed and id, so that 40% of all items
    and of each leaf ability are in dev, to within one item. Items that keep their split may cause
    another ratio.

    Args:
        abilities: The leaf ability of each item, by id.
        before: The splits of an earlier run.
        seed: The seed.
    """
    leaves: dict[str, list[str]] = {}
    for item_id in sorted(abilities, key=lambda item_id: content_id("item", seed, item_id)):
        leaves.setdefault(abilities[item_id], []).append(item_id)
    quotas = _quotas(leaves, before, seed)
    split_of: dict[str, str] = {}
    for leaf, item_ids in leaves.items():
        n_left = quotas[leaf] - _n_on(DEV, item_ids, before)
        for item_id in item_ids:
            split = before.get(item_id)
            if split is None:
                split = DEV if n_left > 0 else TEST
                n_left -= 1
            split_of[item_id] = split
    return split_of


def _quotas(
    leaves: Mapping[str, list[str]], before: Mapping[str, str], seed: int
) -> dict[str, int]:
    """The number of dev items of each leaf: 40%, rounded by largest remainders (ties in hash order)."""
    least = {leaf: _n_on(DEV, item_ids, before) for leaf, item_ids in leaves.items()}
    most = {
        leaf: len(item_ids) - _n_on(TEST, item_ids, before) for leaf, item_ids in leaves.items()
    }
    quotas = {
        leaf: min(max(_DEV_OF_TEN * len(item_ids) // 10, least[leaf]), most[leaf])
        for leaf, item_ids in leaves.items()
    }
    n_items = sum(map(len, leaves.values()))
    wanted = (_DEV_OF_TEN * n_items + 5) // 10
    rest = {leaf: _DEV_OF_TEN * len(item_ids) % 10 for leaf, item_ids in leaves.items()}
    for leaf in sorted(rest, key=lambda leaf: (-rest[leaf], content_id("leaf", seed, leaf))):
        # Items that keep their split may already exceed the share of a leaf.
        below = 10 * quotas[leaf] < _DEV_OF_TEN * len(leaves[leaf])
        if sum(quotas.values()) < wanted and below and quotas[leaf] < most[leaf]:
            quotas[leaf] += 1
    return quotas


def _n_on(split: str, item_ids: list[str], before: Mapping[str, str]) -> int:
    return sum(before.get(item_id) == split for item_id in item_ids)


def build_split(
    name: str,
    edition: Edition,
    items: Sequence[ApprovedItem],
    reviewed: ReviewPolicy,
    sources: Mapping[tuple[str, str], Mapping[str, Any]],
) -> Release:
    """Build the release of one split.

    Args:
        name: The name of the release.
        edition: Benchmark, split and language.
        items: The approved items.
        reviewed: The review policy that they passed.
        sources: The source columns of `images`, by set id and image id.

    Returns:
        The rows of `RELEASE_TABLES`.
    """

    def labels(item: ApprovedItem) -> dict[str, str]:
        named = {L3: item.category, **({"split": edition.split} if edition.split else {})}
        return {**abilities(named), **named}

    return build_release(
        name,
        edition,
        items,
        reviewed,
        hint_name=HINT,
        labels=labels,
        source=lambda item, image_id: sources[item.set_id or "", image_id],
    )
