"""What sets are drawn from, what is wanted of them, and what a set is.

What belongs here: the words the rest is written in, and the bounds of the paper: a benchmark set has 2
to 20 images (MMDU 2.2), an instruction set 2 to 5 (3.2).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from methods.errors import UserError
from methods.ids import content_id

Kind = Literal["benchmark", "instruction"]
MIN_IMAGES = 2
MAX_IMAGES: dict[Kind, int] = {"benchmark": 20, "instruction": 5}


class SetSizeError(UserError):
    """Wanted set sizes that are none, or that the paper's bounds do not allow."""


@dataclass(frozen=True)
class Member:
    """One entry of a cluster, with what must not repeat inside a set."""

    entry_id: str
    image_id: str
    page_id: str
    look: str | None = None
    """What stands for the image and those that look like it; None: nothing looks like it."""

    @property
    def appearance(self) -> str:
        """What no other member of a set may share: the look, or the image itself."""
        return self.look or self.image_id


@dataclass(frozen=True)
class Cluster:
    """Entries that belong together; `vectors` has a unit vector a member, shape (n, d)."""

    cluster_id: str
    members: Sequence[Member]
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class Wish:
    """What is wanted of one kind: how many images how often, how many sets, how often an entry.

    `weights` gives shares of sizes on any scale, as `size_weights` reads them; only these sizes are
    made. `n_sets` None: as many as the entries allow.
    """

    kind: Kind
    weights: Mapping[int, float]
    n_sets: int | None = None
    max_uses: int = 1
    repeat_pages: bool = False
    seed: int = 0

    def rank(self, member: Member, use: int = 0) -> str:
        """Where a member stands in line, for its n-th use: by page and image, not by its text."""
        return content_id(self.seed, self.kind, member.page_id, member.image_id, use)

    def may_form_a_set(self, members: Sequence[Member]) -> bool:
        """Whether these are a wanted number, no two of them alike and, unless allowed, of one page."""
        return (
            len(members) in self.weights
            and _distinct(member.appearance for member in members)
            and (self.repeat_pages or _distinct(member.page_id for member in members))
        )


@dataclass(frozen=True)
class ImageSet:
    """A set in its order; `set_id` is a hash of kind, entries and order."""

    set_id: str
    kind: Kind
    cluster_id: str
    members: tuple[Member, ...]


def image_set(kind: Kind, cluster_id: str, members: Sequence[Member]) -> ImageSet:
    """These members, in their order, as a set."""
    set_id = content_id("image_set", kind, [member.entry_id for member in members])
    return ImageSet(set_id, kind, cluster_id, tuple(members))


def size_weights(kind: Kind, wanted: object) -> dict[int, float]:
    """Number of images to weight, sizes rising, without those of weight 0.

    `wanted` is a mapping from sizes (numbers, or texts of them) to weights, or a list of sizes that
    are wanted equally often. Raises SetSizeError unless there is a size, all lie within the kind's
    bounds and weights are finite and not negative.
    """
    pairs = (
        wanted.items() if isinstance(wanted, Mapping) else ((size, 1) for size in _listed(wanted))
    )
    try:
        # By way of the text: 2.5 is no size, and neither is true.
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
