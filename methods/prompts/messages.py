"""Messages to a model: text and images in the order they are given.

What belongs here: the plain form that prompts render to and that requests are hashed from. Images
are named by the SHA-256 of their bytes; the bytes enter only when a request goes out.
"""

import re
from dataclasses import dataclass
from typing import Literal

IMAGE_HERE = "<ImageHere>"
"""Where an image enters a dialogue's text (MMDU, Figure 9)."""

_IMAGE_HERE = re.compile(re.escape(IMAGE_HERE))


@dataclass(frozen=True)
class Text:
    """A run of text."""

    text: str


@dataclass(frozen=True)
class Image:
    """An image of the store, by the SHA-256 of its bytes (64 hex digits)."""

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
        """A message of text alone."""
        return cls(role, (Text(text),))


def interleave(text: str, image_ids: list[str]) -> tuple[Part, ...]:
    """Parts of `text` with its i-th `<ImageHere>` replaced by the i-th image.

    Raises ValueError when the number of places differs from the number of images: an image that
    silently leaves a dialogue changes every score after it.
    """
    pieces = _IMAGE_HERE.split(text)
    if len(pieces) - 1 != len(image_ids):
        raise ValueError(
            f"The text has {len(pieces) - 1} places for images and {len(image_ids)} images were given."
        )
    parts: list[Part] = []
    for index, piece in enumerate(pieces):
        if piece:
            parts.append(Text(piece))
        if index < len(image_ids):
            parts.append(Image(image_ids[index]))
    return tuple(parts)
