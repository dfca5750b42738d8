"""Texts without the characters that readers do not see."""

import re
import unicodedata

_VARIANTS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Variation selectors."""


def visible_text(text: str) -> str:
    """Return a text as readers see it, to compare it with another.

    Control and format characters, such as zero-width spaces, variation selectors, and blanks at both
    ends are left out.
    """
    shown = _VARIANTS.sub("", text)
    return "".join(
        char for char in shown if char.isspace() or unicodedata.category(char) not in ("Cc", "Cf")
    ).strip()
