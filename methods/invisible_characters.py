"""Texts without the characters that readers do not see."""

import re

from methods.unicode_forms import in_form

_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
)
"""Control and format characters, and fillers."""
_JOINERS = "\u200c\u200d\ufe00-\ufe0f\U000e0000-\U000e0fff"
"""Joiners, variation selectors and tags."""
_JOINED = "\u0600-\u1dff\u20d0-\u2e7f\ua4d0-\uabff\U00010000-\U000dffff"
"""Scripts such as Arabic and those of India, and symbols, that joiners change."""
_UNSEEN_JOINERS = re.compile(f"(?<![{_JOINED}{_JOINERS}])[{_JOINERS}]+")


def visible_text(text: str) -> str:
    """Return a text as readers see it, to compare it with another.

    Invisible characters and repeated blanks are left out. Joiners, variation selectors and tags stay
    behind characters that they may change, such as Arabic letters and symbols.
    """
    shown = _UNSEEN_JOINERS.sub("", _INVISIBLE.sub("", text))
    return " ".join(in_form("NFC", shown).split())
