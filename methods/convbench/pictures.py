"""Which pictures conversations are written about (ConvBench, 3, i).

What belongs here: drawing pictures by a seed, none twice and no two alike. The paper starts from the
pictures of VisIT-Bench; here they are those of the corpus.
"""

from collections.abc import Iterable
from typing import NamedTuple

from methods.ids import content_id


class Pictured(NamedTuple):
    """An entry and its picture; pictures with one `group_id` look alike."""

    entry_id: str
    image_id: str
    group_id: str


def drawn(entries: Iterable[Pictured], n: int, seed: int) -> list[Pictured]:
    """`n` entries whose pictures do not look alike, fewer where there are no more.

    Of each group the entry with the smallest id stands for all. Asking for more keeps what there is.
    """
    of_group: dict[str, Pictured] = {}
    for entry in sorted(entries):
        of_group.setdefault(entry.group_id, entry)
    ordered = sorted(
        of_group.values(), key=lambda entry: content_id("conversation", seed, entry.image_id)
    )
    return ordered[:n]
