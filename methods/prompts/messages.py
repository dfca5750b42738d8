"""Messages to a model: text and images in order.

What belongs here: the types that prompts are rendered to and requests are hashed from. Images are
identified by the SHA-256 of their bytes; the bytes are added when a request is sent.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

IMAGE_HERE = "<ImageHere>"
"""The placeholder of an image in a dialogue's text (MMDU, Figure 9)."""

IMAGE_NAME = r"<image-(\d+)>"
"""The pattern of an image that a text names, with its number."""
IMAGE_TOKEN = re.compile(rf"<image-\d+>|{re.escape(IMAGE_HERE)}", re.IGNORECASE)
"""Whatever stands for an image in a text."""

_IMAGE_HERE = re.compile(re.escape(IMAGE_HERE))


@dataclass(frozen=True)
class Text:
    """A part with text."""

    text: str


@dataclass(frozen=True)
class Image:
    """A part with an image of the store, by the SHA-256 of its bytes (64 hex digits)."""

    image_id: str


Part = Text | Image
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One message; `parts` keep the order of text and images."""

    role: Role
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, role: Role, text: str) -> "Message":
        """A message of one text."""
        return cls(role, (Text(text),))


def with_image_numbers(text: str, positions: Sequence[int] = ()) -> str:
    """`text` with its i-th `<ImageHere>` named by the i-th position: `<image-3>`.

    A placeholder without a position, such as one that a model wrote, becomes `<image>`.
    """
    first, *others = _IMAGE_HERE.split(text)
    names = [f"<image-{position}>" for position in positions]
    names += ["<image>"] * (len(others) - len(names))
    return first + "".join(
        name + piece for name, piece in zip(names[: len(others)], others, strict=True)
    )


def interleave(text: str, image_ids: list[str]) -> tuple[Part, ...]:
    """Parts of `text` with its i-th `<ImageHere>` replaced by the i-th image.

    Raises ValueError if the number of placeholders differs from the number of images: a dialogue that
    silently lost an image would get other scores.
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
