"""Images that look alike, by their perceptual hashes.

What belongs here: which images are near-duplicates of which, and the groups they form. What does
not: making a hash (`methods/ingest/image_quality.py`), and which image of a group is kept (who asks).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
"""Perceptual hashes of 64 bits, shape (n,)."""

Indices = NDArray[np.intp]

HASH_BITS = 64

_MOST_BANDS = 17
"""With more, comparing everything once is less work: 18 bands are 153 comparisons of a 138th."""


class Pair(NamedTuple):
    """Two images whose hashes differ in `distance` bits; first_id < second_id."""

    first_id: str
    second_id: str
    distance: int


def near_duplicates(
    ids: Sequence[str], phashes: Sequence[str | int], max_distance: int
) -> list[Pair]:
    """Pairs of images at a Hamming distance of at most `max_distance` bits, by first and second id.

    `phashes` holds a hash for each of the `ids`, as hex digits or as a number. Exact: no near pair
    of hashes is missed. Many images may share one hash (flat ones do), so images of equal hashes
    are paired with the smallest id among them alone, a star in place of all pairs, and that id
    stands for them towards other hashes. The pairs connect all near-duplicates all the same.

    Raises ValueError: an id twice, not one hash for each id, a hash that is not of 64 bits, a
    distance out of 0 to 64.

    Source of the search: multi-index hashing (Norouzi et al., CVPR 2012), with max_distance + 2
    bands of bits. That many differing bits leave two bands untouched, so it is enough to compare
    hashes that agree in two bands, for every two. Memory is linear in images and pairs found.
    """
    if len(set(ids)) != len(ids):
        raise ValueError("An id stands there twice.")
    if not 0 <= max_distance <= HASH_BITS:
        raise ValueError(f"A distance of {max_distance} is out of 0 to {HASH_BITS}.")
    by_id = sorted(zip(ids, map(_as_number, phashes), strict=True))
    names = [image_id for image_id, _ in by_id]
    hashes = np.array([value for _, value in by_id], dtype=np.uint64)
    # `first` is the place of a hash's smallest id, for names are in order.
    distinct, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    star = np.flatnonzero(first[which] != np.arange(len(hashes)))
    pairs = [Pair(names[first[which[place]]], names[place], 0) for place in star]
    for one, other, distance in _near(distinct, max_distance):
        left, right = sorted((first[one], first[other]))
        pairs.append(Pair(names[left], names[right], distance))
    return sorted(pairs)


def duplicate_groups(ids: Sequence[str], pairs: Sequence[Pair]) -> dict[str, str]:
    """Group of each image that has a near-duplicate, in the order of `ids`; others have none.

    A group is what the pairs connect, over however many steps; its id is its smallest member's.
    Raises ValueError if a pair names an id that is not among the `ids`.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    paired = {image_id for pair in pairs for image_id in pair[:2]}
    strangers = paired.difference(ids)
    if strangers:
        raise ValueError(f"A pair names {min(strangers)!r}, which is not among the ids.")
    names = sorted(paired)
    row_of = {image_id: row for row, image_id in enumerate(names)}
    first = [row_of[pair.first_id] for pair in pairs]
    second = [row_of[pair.second_id] for pair in pairs]
    edges = np.ones(len(pairs), dtype=bool)
    graph = coo_array((edges, (first, second)), shape=(len(names), len(names)))
    _, components = connected_components(graph, directed=False)
    # Rows are in the order of the ids, so the first row of a component is its smallest id.
    _, smallest, component = np.unique(components, return_index=True, return_inverse=True)
    group_of = dict(zip(names, smallest[component].tolist(), strict=True))
    return {image_id: names[group_of[image_id]] for image_id in ids if image_id in paired}


def _as_number(phash: str | int) -> int:
    number = int(phash, 16) if isinstance(phash, str) else phash
    if not 0 <= number < 1 << HASH_BITS:
        raise ValueError(f"{phash!r} is no hash of {HASH_BITS} bits.")
    return number


def _near(hashes: Hashes, max_distance: int) -> Iterator[tuple[int, int, int]]:
    """Indices and distance of every two of the distinct `hashes` that are near, each once."""
    n = len(hashes)
    found = np.empty(0, dtype=np.int64)
    for mask in _masks(max_distance + 2):
        keys = hashes & mask
        order = np.argsort(keys, kind="stable")
        one, other = _near_neighbours(hashes[order], keys[order], max_distance)
        left, right = order[one], order[other]
        # Two hashes may agree under several masks, so each pair becomes one number to find again.
        found = np.union1d(found, np.minimum(left, right) * n + np.maximum(left, right))
    left, right = np.divmod(found, n) if n else (found, found)
    distances = np.bitwise_count(hashes[left] ^ hashes[right])
    return zip(left.tolist(), right.tolist(), distances.tolist(), strict=True)


def _masks(n_bands: int) -> list[np.uint64]:
    """The bits of every two of `n_bands` bands that share out the hash as evenly as may be.

    No bits at all, in which all hashes agree, where the bands are too many to be worth it.
    """
    if n_bands > _MOST_BANDS:
        return [np.uint64(0)]
    edges = [HASH_BITS * band // n_bands for band in range(n_bands + 1)]
    bands = [(1 << high) - (1 << low) for low, high in zip(edges, edges[1:], strict=False)]
    return [np.uint64(one | other) for one, other in combinations(bands, 2)]


def _near_neighbours(hashes: Hashes, keys: Hashes, max_distance: int) -> tuple[Indices, Indices]:
    """Places of every two near hashes whose keys are equal, where `keys` are in order.

    Each is compared to the next one, then all are to the next but one, and so on as long as keys
    agree: the work is that of the pairs compared, the memory that of the hashes.
    """
    ones: list[Indices] = [np.empty(0, dtype=np.intp)]
    others: list[Indices] = [np.empty(0, dtype=np.intp)]
    places = np.arange(len(hashes))
    step = 0
    while len(places):
        step += 1
        places = places[places < len(hashes) - step]
        places = places[keys[places] == keys[places + step]]
        distances = np.bitwise_count(hashes[places] ^ hashes[places + step])
        near = places[distances <= max_distance]
        ones.append(near)
        others.append(near + step)
    return np.concatenate(ones), np.concatenate(others)
