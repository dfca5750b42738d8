"""Deduplication: groups near-duplicate images by the pairs that are copies of each other."""

from collections.abc import Iterable

from methods.components import components


def duplicate_groups(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Group images into the connected components of a graph with an edge for each pair of copies.

    Args:
        pairs: The ids of each two images that are copies.

    Returns:
        The group id by image id. A group's id is its smallest image id. Images without a copy are
        missing.
    """
    component = components(pairs)
    smallest: dict[int, str] = {}
    for image_id in sorted(component):
        smallest.setdefault(component[image_id], image_id)
    return {image_id: smallest[number] for image_id, number in component.items()}
