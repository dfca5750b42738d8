"""An item of each kind that a queue lacks, for tests and the guide's pictures.

The items are shown with any images of the demo, so that their texts say nothing about those images.
"""

from collections.abc import Collection, Sequence

from methods.review import KINDS, QueueItem
from tests.review.items_of_every_kind import item_of

MARK = "A sample for trying this kind of item: it is no part of any data set."
TEXT = "A few plain shapes lie near the middle of an even ground."


def samples(image_ids: Sequence[str], present: Collection[str]) -> list[QueueItem]:
    """A sample of each kind that is not `present`; `image_ids` are images to show."""
    made = [item_of(kind, TEXT, tuple(image_ids[:2])) for kind in KINDS if kind not in present]
    for item in made:
        item["context"] = {"why": [MARK]}
    return made
