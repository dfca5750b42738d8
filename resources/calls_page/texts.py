"""Texts from outside, made fit for a page.

What belongs here: what is done to a reply, a prompt or an error's text so that a person sees what is in
it and the page stays whole. Everything is escaped; nothing is ever rendered.
"""

import re
from typing import NamedTuple

from markupsafe import Markup, escape

_UNSEEN = re.compile(
    # Control characters but tab and line feed; marks of direction; what has no width; lone surrogates.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


class Cut(NamedTuple):
    """The beginning of a text, and how many characters of it are not shown."""

    text: str
    n_left_out: int


def cut(text: str, most: int, n_all: int | None = None) -> Cut:
    """At most `most` characters of a text that has `n_all`, where `text` is not all of it."""
    shown = text[:most]
    return Cut(shown, (len(text) if n_all is None else n_all) - len(shown))


def visible(text: object) -> Markup:
    """`text` escaped, with each character that acts without being seen replaced by its number."""
    return Markup(_UNSEEN.sub(_numbered, str(escape(str(text)))))


def one_line(text: str, most: int) -> str:
    """The first words of a text, on one line."""
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most].rstrip()} …"


def usd(cost: float) -> str:
    """A cost of one call in US dollars: most are far below a cent."""
    if not cost:
        return "0"
    return f"{cost:.6f}".rstrip("0") if cost < 1 else f"{cost:,.2f}"


def moment(created_at: str) -> str:
    """A time of the ledger's rows (ISO 8601, UTC), to the second and without the zone."""
    return created_at[:19].replace("T", " ")


def _numbered(match: re.Match[str]) -> str:
    return f'<span class="unseen">U+{ord(match.group()):04X}</span>'
