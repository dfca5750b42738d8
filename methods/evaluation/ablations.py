"""Blind (text-only) runs and runs with the images of another item.

The score of a model without images shows how much of its score is sight (Goyal et al. 2017, Making the
V in VQA matter; Chen et al. 2024, MMStar).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from methods.errors import UserError
from methods.evaluation.candidates import OTHER_IMAGES
from methods.evaluation.items import Item
from methods.prompts.messages import Image, Message

Messages = tuple[Message, ...]


class NoOtherImages(UserError):
    """No other item of the release has an image that can replace an image."""


def without_images(messages: Messages) -> Messages:
    """Remove images from messages; the numbers of images, such as `<image-1>`, stay in the texts."""
    return tuple(
        replace(message, parts=tuple(part for part in message.parts if not isinstance(part, Image)))
        for message in messages
    )


def with_images(messages: Messages, instead: Mapping[str, str]) -> Messages:
    """Replace images in messages.

    Args:
        messages: The messages.
        instead: The image to show for each image, by id. An image without one, such as a benchmark's
            own example, stays.

    Returns:
        The messages with the other images.
    """
    return tuple(
        replace(
            message,
            parts=tuple(
                Image(instead.get(part.image_id, part.image_id))
                if isinstance(part, Image)
                else part
                for part in message.parts
            ),
        )
        for message in messages
    )


def images_of_others(items: Sequence[Item], place: int) -> dict[str, str]:
    """Choose an image of another item for each image of an item.

    It is the image at the same position of the next item that has one there, in the order of the
    release; after the last item comes the first. If no item has that many images, it is one of the next
    item with any. Items of the same group, and images that the item has itself, are skipped.

    Args:
        items: The items of the release, in order.
        place: The index of the item in `items`, from 0.

    Returns:
        The replacement of each image, by id.

    Raises:
        NoOtherImages: No other item has an image to show.
    """
    item = items[place]
    instead: dict[str, str] = {}
    for position, image_id in enumerate(item.image_ids):
        at_place = (images[position] for images in _others(items, place) if position < len(images))
        anywhere = (images[position % len(images)] for images in _others(items, place))
        replacement = next((e for e in chain(at_place, anywhere) if e not in item.image_ids), None)
        if replacement is None:
            raise NoOtherImages(
                f"No other item of the release has an image to show in place of image {position + 1} "
                f"of {item.item_id}, so {OTHER_IMAGES} cannot be asked about it."
            )
        instead.setdefault(image_id, replacement)
    return instead


def _others(items: Sequence[Item], place: int) -> Iterator[tuple[str, ...]]:
    """Yield the images of the items of other groups that have any, from the next item on."""
    for step in range(1, len(items)):
        other = items[(place + step) % len(items)]
        if other.image_ids and other.cluster != items[place].cluster:
            yield other.image_ids
