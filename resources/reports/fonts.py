"""The choice of the font that draws a text.

Titles and categories come in any script; matplotlib's own font knows Latin, Greek, Cyrillic and some
more, but no Chinese. What belongs here: the choice among that font and those that systems have for
Chinese, Japanese and Korean, which know Latin too.
"""

from collections.abc import Iterable
from functools import cache

OWN = "DejaVu Sans"
"""Comes with matplotlib."""
EAST_ASIAN = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Serif CJK SC",
    "Noto Serif CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
)


def font_for(texts: Iterable[str]) -> str:
    """Path of the font that can draw most of `texts`; among equals, matplotlib's own."""
    texts = list(texts)
    return max(_fonts(), key=lambda path: sum(can_draw(path, text) for text in texts))


def can_draw(path: str, text: str) -> bool:
    """Whether the font has a sign for every character of `text` that is not blank."""
    return all(character.isspace() or ord(character) in _signs(path) for character in text)


def drawable(path: str, text: str) -> str:
    """`text` with a question mark for each character that the font has no sign for."""
    return "".join(each if can_draw(path, each) else "?" for each in text)


@cache
def _fonts() -> tuple[str, ...]:
    from matplotlib.font_manager import FontProperties, fontManager

    found = [fontManager.findfont(FontProperties(family=OWN))]
    for family in EAST_ASIAN:
        try:
            found.append(
                fontManager.findfont(FontProperties(family=family), fallback_to_default=False)
            )
        except ValueError:
            continue
    return tuple(found)


@cache
def _signs(path: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(path).get_charmap())
