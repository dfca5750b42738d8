"""Deduplication: groups of images that are copies of each other."""

from collections.abc import Iterable

from methods.components import components


def duplicate_groups(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Group images by the connected components of pairs.

    Args:
        pairs: The ids of each two images that are copies.

    Returns:
        The group of each image of a pair. A group's id is its smallest image id.
    """
    component = components(pairs)
    smallest: dict[int, str] = {}
    for image_id in sorted(component):
        smallest.setdefault(component[image_id], image_id)
    return {image_id: smallest[number] for image_id, number in component.items()}
