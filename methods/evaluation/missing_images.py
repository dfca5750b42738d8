"""Items whose image files the release does not have.

A model that would see these images is not asked; one that answers without images is
(`AnswerRequest.lacks`). A missing file is the fault of the benchmark: if a model was not asked about an
item because of it, the item is left out of all models' scores (`no_picture`).
"""

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from methods.evaluation.asking import AnswerRequest, Asking
from methods.evaluation.items import Item
from methods.evaluation.published_tables import is_data_url
from methods.prompts.messages import IMAGE_HERE

IMAGE_PATH = "image_path"
"""The label with the path of an item's image file."""


def path_label(image: str) -> dict[str, str]:
    """Return the label with the path of an image; empty for an embedded image."""
    return {IMAGE_PATH: image} if image and not is_data_url(image) else {}


def lacks_picture(item: Item) -> bool:
    """Whether the release lacks an image that the item's questions show."""
    return sum(turn.question.count(IMAGE_HERE) for turn in item.turns) > len(item.image_ids)


def ask_with_missing_images(
    item: Item, ask: Callable[[Item], Generator[Asking, Any, None]]
) -> Generator[Asking, Any, None]:
    """Ask an item; if the release lacks an image, ask its texts only and record what is missing.

    Args:
        item: The item.
        ask: The benchmark's `ask`.

    Returns:
        A generator as `ask` makes it.
    """
    if not lacks_picture(item):
        yield from ask(item)
        return
    turns = tuple(
        replace(
            turn,
            question=turn.question.replace(IMAGE_HERE, "").lstrip(),
            image_positions=(),
        )
        for turn in item.turns
    )
    lacks = (
        f"The picture {item.labels.get(IMAGE_PATH, '')} is not in this release: import it again "
        "with the folder of its pictures (--images)."
    )
    asking = ask(replace(item, turns=turns))
    came: Any = None
    with suppress(StopIteration):
        while True:
            step = asking.send(came)
            came = yield replace(step, lacks=lacks) if isinstance(step, AnswerRequest) else step
