"""Image sets drawn from clusters (MMDU, 2.2 and Table 1).

A benchmark set has 2 to 20 images, an instruction set 2 to 5. What belongs here: which entries of a
cluster form a set. No page stands twice in a set, no two images that look alike, and each entry is used
once a kind.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from methods.ids import content_id

Kind = Literal["benchmark", "instruction"]
MAX_IMAGES: dict[Kind, int] = {"benchmark": 20, "instruction": 5}
MIN_IMAGES = 2


class SetSizeError(ValueError):
    """Wanted set sizes that the paper's bounds do not allow."""


@dataclass(frozen=True)
class Member:
    """One entry of a cluster, with what must not repeat inside a set."""

    entry_id: str
    image_id: str
    page_id: str
    look: str | None = None
    """What stands for the image and those that look like it; None: nothing looks like it."""


@dataclass(frozen=True)
class ImageSet:
    """A set in its order; `set_id` is a hash of kind, entries and order."""

    set_id: str
    kind: Kind
    cluster_id: str
    members: tuple[Member, ...]


def draw_sets(
    cluster_id: str, members: Sequence[Member], kind: Kind, sizes: Sequence[int], seed: int
) -> list[ImageSet]:
    """Sets of one cluster: sizes are drawn from `sizes`, members are dealt out without repetition.

    Order and sizes follow from the seed, the kind and which page and image a member is, not from its
    text or its cluster's other members: when one entry's text changes, only the sets it stands in do.
    What remains, when less than a set, is left out. `sizes` must be given and lie between 2 and the
    kind's maximum (SetSizeError).
    """
    if not sizes or not all(MIN_IMAGES <= size <= MAX_IMAGES[kind] for size in sizes):
        raise SetSizeError(
            f"Sizes of {kind} sets must be {MIN_IMAGES} to {MAX_IMAGES[kind]}, got {list(sizes)}."
        )

    def rank(member: Member) -> str:
        return content_id(seed, kind, member.page_id, member.image_id)

    # Of two entries with the same page and image, the id decides, not who came first.
    rest = _without_repeats(sorted(members, key=lambda member: (rank(member), member.entry_id)))
    generator = random.Random(rank(rest[0]) if rest else seed)
    sets = []
    while len(rest) >= MIN_IMAGES:
        size = min(generator.choice(list(sizes)), len(rest))
        # A single one left over could stand in no set of its own: let it join if it may.
        if len(rest) - size == 1 and size < MAX_IMAGES[kind]:
            size += 1
        chosen, rest = rest[:size], rest[size:]
        set_id = content_id("image_set", kind, [member.entry_id for member in chosen])
        sets.append(ImageSet(set_id, kind, cluster_id, tuple(chosen)))
    return sets


def _without_repeats(members: Sequence[Member]) -> list[Member]:
    """Members in order, less those whose page or look a member kept before them has."""
    pages: set[str] = set()
    looks: set[str] = set()
    kept = []
    for member in members:
        look = member.look or member.image_id
        if member.page_id not in pages and look not in looks:
            kept.append(member)
            pages.add(member.page_id)
            looks.add(look)
    return kept
