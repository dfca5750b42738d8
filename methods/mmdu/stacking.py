"""Stacking of dialogues: joins dialogues to one long conversation with renumbered images (MMDU, C.1).

Each dialogue is in one stack. No image is twice in a stack, because it would have two numbers.
"""

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence, Set

from methods.ids import content_id
from methods.mmdu.composing import Weights, renumber, seeded_integer
from methods.prompts.messages import IMAGE_HERE

_PLACE = re.compile(rf"\bImage(\d+): {IMAGE_HERE}")
_TEXTS = ("question", "answer")
Turn = Mapping[str, str]


def stacks(images_of: Mapping[str, Set[str]], n_dialogues: Weights, seed: int) -> list[list[str]]:
    """Group dialogues into stacks for MMDU-45k; every dialogue is in one stack, and no image twice.

    Args:
        images_of: The images of each dialogue, by id.
        n_dialogues: Weights of the number of dialogues in a stack. A stack is smaller if every
            remaining dialogue shares an image with it.
        seed: The seed.

    Returns:
        The ids of the dialogues of each stack.
    """
    order = sorted(images_of, key=lambda name: content_id("stack", seed, name))
    # An OrderedDict removes its first entry, and any other, in constant time; a list and a dict do not.
    remaining = OrderedDict.fromkeys(order)
    result: list[list[str]] = []
    while remaining:
        stack = [remaining.popitem(last=False)[0]]
        size = seeded_integer(n_dialogues, "size of stack", seed, stack[0])
        shown = set(images_of[stack[0]])
        while len(stack) < size:
            fitting = next((name for name in remaining if not shown & images_of[name]), None)
            if fitting is None:
                break
            del remaining[fitting]
            stack.append(fitting)
            shown |= images_of[fitting]
        result.append(stack)
    return result


def stacked_turns(dialogues: Sequence[tuple[int, Sequence[Turn]]]) -> list[dict[str, str]]:
    """Join the turns of dialogues. Each dialogue is a pair of its number of images and its turns.

    `<image-i>` and the labels of image places are renumbered to follow the earlier dialogues.
    """
    turns: list[dict[str, str]] = []
    before = 0
    for n_images, own in dialogues:
        for turn in own:
            texts = {name: _counted_on(turn[name], n_images, before) for name in _TEXTS}
            turns.append({**turn, **texts})
        before += n_images
    return turns


def _counted_on(text: str, n_images: int, before: int) -> str:
    numbers = {number: number + before for number in range(1, n_images + 1)}
    renumbered = _PLACE.sub(lambda match: f"Image{int(match[1]) + before}: {IMAGE_HERE}", text)
    return renumber(renumbered, numbers)
