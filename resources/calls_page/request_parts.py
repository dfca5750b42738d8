"""A canonical request as a page shows it: messages with texts and pictures, and everything else.

What belongs here: reading the form that the ledger keeps. It is data from a file: what has another form
than expected is shown as JSON, never an error.
"""

import base64
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from PIL import Image

from methods.json_text import to_json
from resources.calls_page.texts import Cut, cut
from resources.images.store import ImageDamaged, ImageNotStored, ImageStore

SIDE = 320
"""Pixels of a thumbnail; shown at half the size, so that it is sharp on fine screens."""
MOST_PICTURES = 60
"""Pictures of one request that are shown; of the others the id is."""
MOST_CHARACTERS = 100_000
"""Characters of one text that are shown."""


class Picture(NamedTuple):
    """A picture in its place: a `data:` address, or why there is none."""

    image_id: str
    source: str | None
    missing: str | None


class Message(NamedTuple):
    """One message: its role, its parts in their order."""

    role: str
    parts: list[Cut | Picture]


class Asked(NamedTuple):
    """A request: messages, parameters, the schema of the reply as JSON, and the other fields."""

    messages: list[Message]
    params: list[tuple[str, str]]
    schema: str | None
    others: list[tuple[str, str]]


def asked(request: Mapping[str, object], images: ImageStore) -> Asked:
    """The request with its pictures."""
    others = {name: value for name, value in request.items() if name not in _APART}
    params = request.get("params")
    if not isinstance(params, Mapping):
        others, params = {**others, "params": params} if params else others, {}
    schema = request.get("schema")
    return Asked(
        list(_messages(request.get("messages"), images)),
        [(name, to_json(value)) for name, value in params.items()],
        None if schema is None else to_json(schema, indent=2),
        [(name, to_json(value)) for name, value in others.items()],
    )


_APART = ("messages", "params", "schema", "provider", "endpoint", "model", "prompt_version")
"""Fields with a place of their own, and those that stand in the ledger's row, too."""


def _messages(messages: object, images: ImageStore) -> Iterator[Message]:
    if not isinstance(messages, list):
        messages = [] if messages is None else [messages]
    n_pictures = 0
    for message in messages:
        if not (isinstance(message, dict) and isinstance(message.get("parts"), list)):
            yield Message("unknown", [cut(to_json(message, indent=2), MOST_CHARACTERS)])
            continue
        parts: list[Cut | Picture] = []
        for part in message["parts"]:
            if isinstance(part, dict) and isinstance(part.get("image"), str):
                n_pictures += 1
                parts.append(_picture(part["image"], images, n_pictures <= MOST_PICTURES))
            else:
                text = part if isinstance(part, str) else to_json(part)
                parts.append(cut(text, MOST_CHARACTERS))
        yield Message(str(message.get("role")), parts)


def _picture(image_id: str, images: ImageStore, shown: bool) -> Picture:
    if not shown:
        return Picture(image_id, None, f"is not shown: the first {MOST_PICTURES} are")
    try:
        encoded = base64.b64encode(images.thumbnail(image_id, SIDE)).decode()
    except (ImageDamaged, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return Picture(image_id, None, "cannot be read: its file is damaged")
    except ImageNotStored:
        return Picture(image_id, None, "is not in the image store any more")
    return Picture(image_id, f"data:image/jpeg;base64,{encoded}", None)
