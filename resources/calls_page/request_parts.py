"""The display of a stored model request: messages with texts and images, parameters and other fields.

Requests are data from a file. Parts in an unexpected format are shown as JSON instead of raising an
error. All texts are escaped, and never rendered as HTML or Markdown.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from markupsafe import Markup, escape

from methods.json_text import to_json
from resources.images.store import ImageDamaged, ImageNotStored, ImageStore

_UNSEEN = re.compile(
    # Control characters except tab and line feed; direction marks; zero width; lone surrogates.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


class TruncatedText(NamedTuple):
    """The beginning of a text, and the number of characters that are not shown."""

    text: str
    n_left_out: int


def cut(text: str, most: int, n_all: int | None = None) -> TruncatedText:
    """Truncate a text.

    Args:
        text: The text, or its beginning.
        most: The most characters.
        n_all: The number of characters of the whole text, if `text` is not all of it.

    Returns:
        The beginning, and the number of characters left out.
    """
    shown = text[:most]
    return TruncatedText(shown, (len(text) if n_all is None else n_all) - len(shown))


def visible(text: object) -> Markup:
    """Escape a text for HTML, and replace each invisible character by its code point."""
    return Markup(_UNSEEN.sub(_numbered, str(escape(str(text)))))


def one_line(text: str, most: int) -> str:
    """Shorten a text to its first words on one line.

    Args:
        text: The text.
        most: The most characters.
    """
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most].rstrip()} …"


def usd(cost: float) -> str:
    """Format the cost of one call in US dollars, with six decimals below a dollar."""
    if not cost:
        return "0"
    return f"{cost:.6f}".rstrip("0") if cost < 1 else f"{cost:,.2f}"


def moment(created_at: str) -> str:
    """Format a time of the ledger (ISO 8601, UTC) to the second, without the time zone."""
    return created_at[:19].replace("T", " ")


def _numbered(match: re.Match[str]) -> str:
    return f'<span class="unseen">U+{ord(match.group()):04X}</span>'


SIDE = 320
"""Side of a thumbnail in pixels. It is shown at half the size, so that it is sharp on all screens."""
MOST_PICTURES = 60
"""The most images of one request that are shown. For further images only the id is shown."""
MOST_CHARACTERS = 100_000
"""The most characters of one text that are shown."""


class InlineImage(NamedTuple):
    """An image at its position in a request: its `data:` URL, or why there is none."""

    image_id: str
    source: str | None
    missing: str | None


class MessageParts(NamedTuple):
    """One message: its role, and its parts in order."""

    role: str
    parts: list[TruncatedText | InlineImage]


class RequestParts(NamedTuple):
    """A request: messages, parameters, the schema of the reply as JSON, and the other fields."""

    messages: list[MessageParts]
    params: list[tuple[str, str]]
    schema: str | None
    others: list[tuple[str, str]]


def request_view(request: Mapping[str, object], images: ImageStore) -> RequestParts:
    """Divide a request into the parts that its HTML page shows.

    Args:
        request: The request.
        images: The image store.
    """
    others = {name: value for name, value in request.items() if name not in _APART}
    params = request.get("params")
    if not isinstance(params, Mapping):
        others, params = {**others, "params": params} if params else others, {}
    schema = request.get("schema")
    return RequestParts(
        list(_messages(request.get("messages"), images)),
        [(name, to_json(value)) for name, value in params.items()],
        None if schema is None else to_json(schema, indent=2),
        [(name, to_json(value)) for name, value in others.items()],
    )


_APART = ("messages", "params", "schema", "provider", "endpoint", "model", "prompt_version")
"""Fields that are shown separately, or that the ledger's row has, too."""


def _messages(messages: object, images: ImageStore) -> Iterator[MessageParts]:
    if not isinstance(messages, list):
        messages = [] if messages is None else [messages]
    n_pictures = 0
    for message in messages:
        if not (isinstance(message, dict) and isinstance(message.get("parts"), list)):
            yield MessageParts("unknown", [cut(to_json(message, indent=2), MOST_CHARACTERS)])
            continue
        parts: list[TruncatedText | InlineImage] = []
        for part in message["parts"]:
            if isinstance(part, dict) and isinstance(part.get("image"), str):
                n_pictures += 1
                parts.append(_picture(part["image"], images, n_pictures <= MOST_PICTURES))
            else:
                text = part if isinstance(part, str) else to_json(part)
                parts.append(cut(text, MOST_CHARACTERS))
        yield MessageParts(str(message.get("role")), parts)


def _picture(image_id: str, images: ImageStore, shown: bool) -> InlineImage:
    if not shown:
        return InlineImage(image_id, None, f"is not shown: the first {MOST_PICTURES} are")
    try:
        encoded = base64.b64encode(images.thumbnail(image_id, SIDE)).decode()
    except (ImageDamaged, OSError):
        return InlineImage(image_id, None, "cannot be read: its file is damaged")
    except ImageNotStored:
        return InlineImage(image_id, None, "is not in the image store any more")
    return InlineImage(image_id, f"data:image/jpeg;base64,{encoded}", None)
