"""Near-duplicate images, by the Hamming distance of their perceptual hashes."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.components import components

Hashes = NDArray[np.uint64]
"""Perceptual hashes of 64 bits, shape (n,)."""

Indices = NDArray[np.intp]

HASH_BITS = 64

_MOST_BANDS = 17
"""With more bands, comparing all pairs once is less work: 18 bands need 153 passes over 1/138 each."""


class NearDuplicatePair(NamedTuple):
    """Two images whose hashes differ in `distance` bits; first_id < second_id."""

    first_id: str
    second_id: str
    distance: int


def near_duplicates(
    ids: Sequence[str], phashes: Sequence[str | int], max_distance: int
) -> list[NearDuplicatePair]:
    """Find the pairs of images whose hashes differ in few bits, exactly.

    Many images may have the same hash (uniform ones do). Of these only the smallest id is paired, with
    each other id of that hash and with near hashes; so the pairs are fewer, but connect the same
    groups.

    The method is multi-index hashing (Norouzi et al., CVPR 2012) with max_distance + 2 bands of bits:
    max_distance differing bits leave at least two bands unchanged, so it is enough to compare hashes
    that agree in some two bands. Memory is linear in images and pairs.

    Args:
        ids: The ids of the images.
        phashes: The hash of each image, 64 bits, as hex digits or as a number.
        max_distance: The most bits that differ, 0 to 64.

    Returns:
        The pairs, sorted by their ids.

    Raises:
        ValueError: An id is repeated, the numbers of ids and hashes differ, a hash does not have 64
            bits, or the
        distance is out of bounds.
    """
    if len(set(ids)) != len(ids):
        raise ValueError("An image id occurs twice: give each image once.")
    if not 0 <= max_distance <= HASH_BITS:
        raise ValueError(f"A distance of {max_distance} is outside 0 to {HASH_BITS}.")
    by_id = sorted(zip(ids, map(_as_number, phashes), strict=True))
    names = [image_id for image_id, _ in by_id]
    hashes = np.array([value for _, value in by_id], dtype=np.uint64)
    # `names` are sorted, so `first` is the row of the smallest id of each hash.
    distinct, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    repeated = np.flatnonzero(first[which] != np.arange(len(hashes)))
    pairs = [NearDuplicatePair(names[first[which[row]]], names[row], 0) for row in repeated]
    for first_hash, second_hash, distance in _near(distinct, max_distance):
        left, right = sorted((first[first_hash], first[second_hash]))
        pairs.append(NearDuplicatePair(names[left], names[right], distance))
    return sorted(pairs)


def duplicate_groups(ids: Sequence[str], pairs: Sequence[NearDuplicatePair]) -> dict[str, str]:
    """Group images by the connected components of near-duplicate pairs.

    Args:
        ids: The ids of all images.
        pairs: The pairs.

    Returns:
        The group of each image that has a near-duplicate, in the order of `ids`. A group's id is its
        smallest
        image id.

    Raises:
        ValueError: A pair names an unknown id.
    """
    component = components((pair.first_id, pair.second_id) for pair in pairs)
    unknown = component.keys() - set(ids)
    if unknown:
        raise ValueError(f"A pair names {min(unknown)!r}, which is not among the ids.")
    smallest: dict[int, str] = {}
    for image_id in sorted(component):
        smallest.setdefault(component[image_id], image_id)
    return {image_id: smallest[component[image_id]] for image_id in ids if image_id in component}


def _as_number(phash: str | int) -> int:
    number = int(phash, 16) if isinstance(phash, str) else phash
    if not 0 <= number < 1 << HASH_BITS:
        raise ValueError(f"{phash!r} is not a hash of {HASH_BITS} bits.")
    return number


def _near(hashes: Hashes, max_distance: int) -> Iterator[tuple[int, int, int]]:
    """Indices and distance of all near pairs of the distinct `hashes`, each pair once."""
    n = len(hashes)
    pair_codes = np.empty(0, dtype=np.int64)
    for mask in _masks(max_distance + 2):
        keys = hashes & mask
        order = np.argsort(keys, kind="stable")
        first, second = _near_neighbours(hashes[order], keys[order], max_distance)
        left, right = order[first], order[second]
        # Two hashes may agree under several masks: encode a pair as one number to drop repeats.
        pair_codes = np.union1d(pair_codes, np.minimum(left, right) * n + np.maximum(left, right))
    left, right = np.divmod(pair_codes, n) if n else (pair_codes, pair_codes)
    distances = np.bitwise_count(hashes[left] ^ hashes[right])
    return zip(left.tolist(), right.tolist(), distances.tolist(), strict=True)


def _masks(n_bands: int) -> list[np.uint64]:
    """A mask for each two of `n_bands` bands of nearly equal width.

    With too many bands the only mask is 0, under which all hashes agree: all pairs are compared.
    """
    if n_bands > _MOST_BANDS:
        return [np.uint64(0)]
    edges = [HASH_BITS * band // n_bands for band in range(n_bands + 1)]
    bands = [(1 << high) - (1 << low) for low, high in zip(edges, edges[1:], strict=False)]
    return [np.uint64(one | other) for one, other in combinations(bands, 2)]


def _near_neighbours(hashes: Hashes, keys: Hashes, max_distance: int) -> tuple[Indices, Indices]:
    """Positions of all near pairs of hashes with equal keys; `keys` must be sorted.

    Each hash is compared with the next one, then with the next but one, and so on while keys are equal:
    time is linear in the pairs compared, memory in the hashes.
    """
    ones: list[Indices] = [np.empty(0, dtype=np.intp)]
    others: list[Indices] = [np.empty(0, dtype=np.intp)]
    positions = np.arange(len(hashes))
    step = 0
    while len(positions):
        step += 1
        positions = positions[positions < len(hashes) - step]
        positions = positions[keys[positions] == keys[positions + step]]
        distances = np.bitwise_count(hashes[positions] ^ hashes[positions + step])
        near = positions[distances <= max_distance]
        ones.append(near)
        others.append(near + step)
    return np.concatenate(ones), np.concatenate(others)
