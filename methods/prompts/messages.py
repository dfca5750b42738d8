"""Chat messages to a model: text and images in order.

Images are identified by the SHA-256 of their bytes; the bytes are added when a request is sent. If a
model accepts fewer images than a request has, images are joined to a grid or left out.
"""

import itertools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

IMAGE_HERE = "<ImageHere>"
"""The placeholder of an image in a dialogue's text (MMDU, Figure 9)."""

IMAGE_NAME = r"<image-(\d+)>"
"""The pattern of a reference to an image by its number, such as `<image-1>`."""
IMAGE_TOKEN = re.compile(rf"<image-\d+>|{re.escape(IMAGE_HERE)}", re.IGNORECASE)
"""Any image token: a numbered reference or the placeholder."""

_IMAGE_HERE = re.compile(re.escape(IMAGE_HERE))


@dataclass(frozen=True)
class Text:
    """A text part."""

    text: str


@dataclass(frozen=True)
class Image:
    """An image part. `image_id` is the SHA-256 of the image file (64 hex digits)."""

    image_id: str


Part = Text | Image
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One message; `parts` keep the order of text and images."""

    role: Role
    parts: tuple[Part, ...]

    @classmethod
    def from_text(cls, role: Role, text: str) -> "Message":
        """Make a message of one text.

        Args:
            role: The role.
            text: The text.
        """
        return cls(role, (Text(text),))


def with_image_numbers(text: str, positions: Sequence[int] = ()) -> str:
    """Number the image placeholders of a text.

    Args:
        text: A text with `<ImageHere>` for each image.
        positions: The position of each placeholder's image.

    Returns:
        The text with `<image-3>` and the like; a placeholder without a position becomes `<image>`.
    """
    first, *others = _IMAGE_HERE.split(text)
    names = [f"<image-{position}>" for position in positions]
    names += ["<image>"] * (len(others) - len(names))
    return first + "".join(
        name + piece for name, piece in zip(names[: len(others)], others, strict=True)
    )


def interleave(text: str, image_ids: list[str]) -> tuple[Part, ...]:
    """Put images in place of the placeholders of a text.

    Args:
        text: The text with an `<ImageHere>` for each image.
        image_ids: The images in order.

    Raises:
        ValueError: The numbers of placeholders and images differ. Without this check, a missing image
            would silently change scores.
    """
    pieces = _IMAGE_HERE.split(text)
    if len(pieces) - 1 != len(image_ids):
        raise ValueError(
            f"The text has {len(pieces) - 1} placeholders for images, but {len(image_ids)} images were "
            "given."
        )
    parts: list[Part] = []
    for index, piece in enumerate(pieces):
        if piece:
            parts.append(Text(piece))
        if index < len(image_ids):
            parts.append(Image(image_ids[index]))
    return tuple(parts)


def in_a_grid(messages: Sequence[Message]) -> list[Message]:
    """Keep the first image, in whose place the grid of all images is sent, and replace each image by a
    text with its number.
    """

    def with_number(place: int, image: Image) -> list[Part]:
        number = Text(f"<image {place + 1} of the grid>")
        return [image, number] if place == 0 else [number]

    return _with_images(messages, with_number)


def with_images_at(messages: Sequence[Message], places: Collection[int]) -> list[Message]:
    """Keep the images at some places of messages; a text replaces each other image.

    Args:
        messages: The messages.
        places: The places of the images to keep, from 0.
    """
    return _with_images(
        messages,
        lambda place, image: [
            image if place in places else Text(f"<image {place + 1} is left out>")
        ],
    )


def _with_images(
    messages: Sequence[Message], parts_of: Callable[[int, Image], list[Part]]
) -> list[Message]:
    """Replace each image by the parts that `parts_of` returns for its place, from 0, and the image."""
    places = itertools.count()
    result = []
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            parts += parts_of(next(places), part) if isinstance(part, Image) else [part]
        result.append(replace(message, parts=tuple(parts)))
    return result


def evenly(n: int, most: int) -> list[int]:
    """Select evenly spread positions, including the first and the last one.

    Args:
        n: The number of positions.
        most: The largest number of positions to select.

    Returns:
        Positions from 0 to n - 1: all if n is at most `most`, only the first if `most` is 1.
    """
    if n <= most:
        return list(range(n))
    if most == 1:
        return [0]
    return [round(step * (n - 1) / (most - 1)) for step in range(most)]
