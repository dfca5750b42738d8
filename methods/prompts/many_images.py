"""Messages with more images than a model takes, made into messages that it takes.

What belongs here: which images are sent and what stands in the places of the others, both for a model's
entry of models.yaml and for a benchmark's policy (`methods/evaluation/dialogue.py`). Drawing a grid is
`methods/ingest/picture.py`; the entry says which of the two ways is its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from methods.prompts.messages import Image, Message, Part, Text


@dataclass(frozen=True)
class Grid:
    """A part in place of an image: one picture of all images, in their order."""

    image_ids: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """A message whose images may be a grid; `parts` keep their order."""

    role: str
    parts: tuple[Text | Image | Grid, ...]


def all_shown(messages: Sequence[Message]) -> list[Shown]:
    """The messages as they are."""
    return [Shown(message.role, message.parts) for message in messages]


def in_a_grid(messages: Sequence[Message]) -> list[Shown]:
    """The messages with a grid in place of the first image; texts name the images by their numbers."""
    image_ids = tuple(
        part.image_id for message in messages for part in message.parts if isinstance(part, Image)
    )
    n_seen = 0
    shown = []
    for message in messages:
        parts: list[Text | Image | Grid] = []
        for part in message.parts:
            if isinstance(part, Image):
                n_seen += 1
                parts += [Grid(image_ids)] if n_seen == 1 else []
                parts.append(Text(f"<image {n_seen} of the grid>"))
            else:
                parts.append(part)
        shown.append(Shown(message.role, tuple(parts)))
    return shown


def sampled(messages: Sequence[Message], most: int) -> list[Shown]:
    """The messages with `most` of their images, evenly spread; texts say which others are left out."""
    return all_shown(with_images_at(messages, evenly(n_images(messages), most)))


def with_images_at(messages: Sequence[Message], places: Collection[int]) -> list[Message]:
    """The messages with the images at these places, from 0; texts say which others are left out."""
    n_seen = 0
    kept = []
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, Image):
                n_seen += 1
                left_out = Text(f"<image {n_seen} is left out>")
                parts.append(part if n_seen - 1 in places else left_out)
            else:
                parts.append(part)
        kept.append(replace(message, parts=tuple(parts)))
    return kept


def n_images(messages: Sequence[Message]) -> int:
    """How many images the messages have."""
    return sum(isinstance(part, Image) for message in messages for part in message.parts)


def evenly(n: int, most: int) -> list[int]:
    """`most` of the places 0 to n - 1, evenly spread, the first and the last among them.

    Of several only the first where `most` is 1; all where there are no more.
    """
    if n <= most:
        return list(range(n))
    if most == 1:
        return [0]
    return [round(step * (n - 1) / (most - 1)) for step in range(most)]
