"""Types of image set sampling (members, clusters, specification, image sets), and numbers of sets by
size.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from methods.errors import UserError
from methods.ids import content_id

Counts = NDArray[np.int64]


def apportion(weights: Mapping[int, float], n_sets: int) -> Counter[int]:
    """Apportion a number of sets to set sizes, as near to the weights as whole numbers allow.

    Args:
        weights: The weight of each size.
        n_sets: The number of sets.
    """
    return apportion_more(weights, Counter(), n_sets, dict.fromkeys(weights, math.inf))


def apportion_more(
    weights: Mapping[int, float],
    existing: Mapping[int, int],
    n_sets: int | None,
    capacity: Mapping[int, float],
) -> Counter[int]:
    """Apportion further sets to set sizes by the Webster method (Sainte-Laguë).

    Each set goes to the size with the largest weight / (2 n + 1), where n is the number of its sets so
    far; ties go to the smaller size. A size without capacity gets no more sets.

    Args:
        weights: The weight of each size.
        existing: The number of sets of each size that exist.
        n_sets: The largest number of sets to add; None for as many as fit.
        capacity: For each size s, the total number of images in all sets of s or more images that the
            clusters can hold.

    Returns:
        The number of sets of each size to add.
    """
    added: Counter[int] = Counter()
    used = dict.fromkeys(weights, 0)
    open_sizes = [size for size in sorted(weights) if capacity[size] >= size]
    while open_sizes and (n_sets is None or added.total() < n_sets):
        size = max(
            open_sizes,
            key=lambda size: weights[size] / (2 * (existing.get(size, 0) + added[size]) + 1),
        )
        # A set uses capacity of its own size and of all smaller sizes.
        limited = [least for least in weights if least <= size]
        if any(used[least] + size > capacity[least] for least in limited):
            open_sizes.remove(size)
            continue
        added[size] += 1
        for least in limited:
            used[least] += size
    return added


class Packing:
    """The most entries that sets of the given sizes can use.

    For example, sets of 5 use all of 10 entries, and sets of 3 use 9 of them.
    """

    def __init__(self, sizes: Sequence[int]):
        self._divisor = math.gcd(*sizes)
        # Beyond the table every multiple of the divisor is a sum of sizes: the largest exception (the
        # Frobenius number, for sizes divided by it) is below max^2.
        self._table = [0] * (max(sizes) ** 2 + 1)
        for number in range(len(self._table)):
            rests = [self._table[number - size] for size in sizes if size <= number]
            self._table[number] = min(rests, default=number)

    def left_over(self, number: int) -> int:
        """Return the smallest number of `number` entries that remain unused."""
        if number < len(self._table):
            return self._table[number]
        return number % self._divisor

    def used(self, number: int) -> int:
        """Return the largest number of `number` entries that sets can use."""
        return number - self.left_over(number)


def max_sets(counts: Counts, size: float) -> int:
    """Compute the largest number of sets of which each takes at most one entry of a group.

    t sets can take at most min(count, t) entries of a group. They exist if and only if the sum over all
    groups is at least t * size.

    Args:
        counts: The number of entries of each group.
        size: The number of entries of a set.
    """
    low, high = 0, int(counts.sum() // size)
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(counts, middle).sum() >= middle * size:
            low = middle
        else:
            high = middle - 1
    return low


Kind = Literal["benchmark", "instruction"]
MIN_IMAGES = 2
MAX_IMAGES: dict[Kind, int] = {"benchmark": 20, "instruction": 5}


class SetSizeError(UserError):
    """The requested set sizes are empty, not numbers or outside the bounds of the MMDU paper."""


@dataclass(frozen=True)
class Member:
    """One entry of a cluster, with its image and page."""

    entry_id: str
    image_id: str
    page_id: str
    duplicate_group: str | None = None
    """Id of the group of near-duplicates that the image is in; None if it has no near-duplicate."""

    @property
    def image_group(self) -> str:
        """Id of the group of near-duplicates, or of the image if it has none.

        The members of a set all have different image groups.
        """
        return self.duplicate_group or self.image_id


@dataclass(frozen=True)
class Cluster:
    """Entries of one cluster; `vectors` has a unit vector for each member, shape (n, d)."""

    cluster_id: str
    members: Sequence[Member]
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class SamplingSpec:
    """What to sample for one kind: set sizes, the number of sets, and uses of an entry.

    Attributes:
        weights: Relative shares of set sizes, from `size_weights`; other sizes are not sampled.
        n_sets: The number of sets; None for as many as possible.
        max_uses: The number of sets that an entry may be in.
        repeat_pages: Whether a set may have several images of one page.
    """

    kind: Kind
    weights: Mapping[int, float]
    n_sets: int | None = None
    max_uses: int = 1
    repeat_pages: bool = False
    seed: int = 0

    def rank(self, member: Member, use: int = 0) -> str:
        """Return the sampling rank of a use of a member: a hash of its page and image, not of its text.

        Args:
            member: The member.
            use: The number of the use, from 0.
        """
        return content_id(self.seed, self.kind, member.page_id, member.image_id, use)

    def allows(self, members: Sequence[Member]) -> bool:
        """Check that the members may form a set: a wanted size, no near-duplicates, no page twice."""
        return (
            len(members) in self.weights
            and _distinct(member.image_group for member in members)
            and (self.repeat_pages or _distinct(member.page_id for member in members))
        )


@dataclass(frozen=True)
class ImageSet:
    """An image set: members in order. `set_id` is a hash of the kind and of the entries in order."""

    set_id: str
    kind: Kind
    cluster_id: str
    members: tuple[Member, ...]


def image_set(kind: Kind, cluster_id: str, members: Sequence[Member]) -> ImageSet:
    """Make a set with its id, a hash of its kind and its entries in order.

    Args:
        kind: The kind of set.
        cluster_id: The cluster of its entries.
        members: The entries with their images, in order.
    """
    set_id = content_id("image_set", kind, [member.entry_id for member in members])
    return ImageSet(set_id, kind, cluster_id, tuple(members))


def size_weights(kind: Kind, wanted: object) -> dict[int, float]:
    """Read the weights of set sizes.

    Args:
        kind: The kind of sets, which bounds the sizes.
        wanted: A mapping from sizes (whole numbers, also as strings) to weights, or a size or a list of
            sizes, which then have equal weights.

    Returns:
        The weight of each size, sizes ascending, without sizes of weight 0.

    Raises:
        SetSizeError: There is no size, a size is out of bounds, or a weight is negative or not finite.
    """
    pairs = (
        wanted.items() if isinstance(wanted, Mapping) else ((size, 1) for size in _listed(wanted))
    )
    try:
        # int(str(...)), because int() alone would accept 2.5 and True.
        weights = {int(str(size)): float(weight) for size, weight in pairs}
    except (TypeError, ValueError):
        raise SetSizeError(
            f"Sizes of {kind} sets must be whole numbers with a number as weight, got {wanted}."
        ) from None
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights.values()):
        raise SetSizeError(f"Weights of {kind} sets must be 0 or more, got {wanted}.")
    sizes = sorted(size for size, weight in weights.items() if weight)
    if not sizes or not all(MIN_IMAGES <= size <= MAX_IMAGES[kind] for size in weights):
        raise SetSizeError(
            f"Sizes of {kind} sets must be {MIN_IMAGES} to {MAX_IMAGES[kind]}, got {wanted}."
        )
    return {size: weights[size] for size in sizes}


def _listed(wanted: object) -> Iterable[object]:
    return wanted if isinstance(wanted, list | tuple) else [wanted]


def _distinct(values: Iterable[str]) -> bool:
    listed = list(values)
    return len(set(listed)) == len(listed)
