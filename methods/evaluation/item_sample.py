"""A stratified sample of a release's items, by ability, and a note on how many items were asked.

A larger sample contains a smaller one.
"""

from collections.abc import Sequence

from methods.evaluation.items import Item
from methods.ids import content_id


def partial_evaluation_note(n_asked: int, n_items: int) -> str:
    """Say that a model was asked about a part of a release.

    Args:
        n_asked: The number of items asked.
        n_items: The number of items of the release.

    Returns:
        One sentence.
    """
    return f"{n_asked} of {n_items} items were asked."


def stratified_sample(
    items: Sequence[Item], n_items: int, labels: Sequence[str], seed: int
) -> frozenset[str]:
    """Sample items so that each stratum has its share, up to one item.

    Args:
        items: The items of a release.
        n_items: The number of items of the sample; all items if there are fewer.
        labels: Items with the same values of these labels are one stratum.
        seed: Seed of the order of the items within their strata.

    Returns:
        The ids of the items. A larger sample with the same seed contains all of them.
    """
    strata: dict[tuple[str, ...], list[str]] = {}
    for item in items:
        values = tuple(item.labels.get(label, "") for label in labels)
        strata.setdefault(values, []).append(item.item_id)
    order = []
    for of_stratum in strata.values():
        shuffled = sorted((content_id(seed, item_id), item_id) for item_id in of_stratum)
        order += [
            ((place + 0.5) / len(shuffled), sort_key, item_id)
            for place, (sort_key, item_id) in enumerate(shuffled)
        ]
    return frozenset(item_id for *_, item_id in sorted(order)[:n_items])
