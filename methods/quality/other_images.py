"""The pictures of another set, which a question is asked on to see whether it needs its own.

What belongs here: which ones. They are from the dialogue that follows in an order by hashes of the
pictures, so that a text that changes, or a dialogue more, changes few of the choices.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle, islice

from methods.ids import content_id

MOST_TRIED = 50
"""Dialogues that are looked at for one without a picture in common."""


def other_images(images_of: Mapping[str, Sequence[str]], seed: int) -> dict[str, list[str]]:
    """By dialogue: as many pictures as it has, none of them its own.

    They are repeated where the other dialogue has fewer. A dialogue that shares a picture with all that
    were looked at has none.
    """
    ordered = sorted(
        images_of, key=lambda name: (content_id("other images", seed, list(images_of[name])), name)
    )
    found = {}
    for place, name in enumerate(ordered):
        own = images_of[name]
        for step in range(1, min(len(ordered), MOST_TRIED + 1)):
            others = images_of[ordered[(place + step) % len(ordered)]]
            if not set(own) & set(others):
                found[name] = list(islice(cycle(others), len(own)))
                break
    return found
