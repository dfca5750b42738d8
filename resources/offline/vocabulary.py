"""The words that state a visual fact.

What belongs here: the vocabulary that answers are written in and that the judge reads, one pattern
for each value of each kind of fact. Every fact that the server states is found again. Part of the
offline stand-in; no model is called.
"""

from __future__ import annotations

import re

from resources.offline.colours import NAMES

COLOUR, LIGHT, VIVIDNESS = "colour", "light", "vividness"
SHAPE, PLACE, COUNT, ORIENTATION = "shape", "place", "count", "orientation"
KINDS = (COLOUR, LIGHT, VIVIDNESS, SHAPE, PLACE, COUNT, ORIENTATION)

_COLOUR_WORDS = {
    "red": "red|reddish|crimson|scarlet",
    "orange": "orange|orangish|amber",
    "yellow": "yellow|yellowish|golden",
    "green": "green|greenish|emerald",
    "turquoise": "turquoise|teal|cyan|aqua",
    "blue": "blue|bluish|navy|azure",
    "purple": "purple|purplish|violet|lilac",
    "pink": "pink|pinkish|magenta|rose-coloured",
    "brown": "brown|brownish|tan|beige",
    "grey": "grey|gray|greyish|grayish|silver",
    "black": "black|blackish|jet-black",
    "white": "white|whitish|snow-white",
}
_HUE = "|".join(_COLOUR_WORDS.values())
_NOT_A_SHADE = rf"(?!\s+(?:colou?rs?|tones?|shades?|hues?|{_HUE})\b)"
_THING = (
    r"(?:forms?|parts?|objects?|shapes?|figures?|elements?|pieces?|subjects?|items?|bodies|stars)"
)
_OF_THINGS = rf"\s+(?:[a-z-]+,?\s+){{0,2}}{_THING}"
_FRAME = r"[\s-](?:format|orientation|frame|layout)"

PATTERNS: dict[str, dict[str, str]] = {
    COLOUR: _COLOUR_WORDS,
    LIGHT: {
        "dark": rf"(?:dark{_NOT_A_SHADE}|darkness|low-key|unlit|night-like)",
        "dim": "dim|dimly|half-lit|shadowy|low light",
        "bright": rf"(?:bright{_NOT_A_SHADE}|brightly|well-lit|luminous|high-key)",
    },
    VIVIDNESS: {
        "vivid": "vivid|saturated|colou?rful|intense",
        "muted": "muted|desaturated|subdued|faded|washed-out",
    },
    SHAPE: {
        "round": "round|rounded|circular|circle|disc|disk|oval|spherical|sphere",
        "boxy": rf"boxy|rectangular|rectangle|blocky|square(?!{_FRAME})",
        "triangular": "triangular|triangle|pyramidal|wedge-shaped",
        "irregular": "irregular|jagged|ragged|wispy|amorphous|uneven",
    },
    PLACE: {
        "left": r"(?:on|to|at|towards?|in) the (?:far )?left|left-hand|left (?:side|half|part)",
        "centre": "centre|center|centred|centered|central|middle",
        "right": r"(?:on|to|at|towards?|in) the (?:far )?right|right-hand|right (?:side|half|part)",
    },
    COUNT: {
        "single": rf"(?:single|lone|solitary|sole){_OF_THINGS}",
        "few": rf"(?:a few|few|several|two|three|four|a couple of){_OF_THINGS}",
        "many": rf"(?:(?<!how )many|numerous|countless|dozens of|a crowd of|plenty of){_OF_THINGS}",
    },
    ORIENTATION: {
        "landscape": rf"(?:landscape|horizontal|wide){_FRAME}",
        "portrait": rf"(?:portrait|vertical|upright|tall){_FRAME}",
        "square": rf"square{_FRAME}",
    },
}

CHINESE: dict[str, dict[str, str]] = {
    COLOUR: {
        "red": "红色",
        "orange": "橙色",
        "yellow": "黄色",
        "green": "绿色",
        "turquoise": "青色",
        "blue": "蓝色",
        "purple": "紫色",
        "pink": "粉色",
        "brown": "棕色",
        "grey": "灰色",
        "black": "黑色",
        "white": "白色",
    },
    LIGHT: {"dark": "黑暗", "dim": "昏暗", "bright": "明亮"},
    VIVIDNESS: {"vivid": "鲜艳", "muted": "柔和"},
    SHAPE: {"round": "圆形", "boxy": "方形", "triangular": "三角形", "irregular": "不规则形"},
    PLACE: {"left": "左侧", "centre": "中央", "right": "右侧"},
    COUNT: {"single": "单个", "few": "少量", "many": "大量"},
    ORIENTATION: {"landscape": "横向", "portrait": "纵向", "square": "方正"},
}
"""Each value in Chinese; no word is a part of another one."""

_NEIGHBOURS = (
    ("red", "orange"),
    ("red", "pink"),
    ("red", "brown"),
    ("orange", "yellow"),
    ("orange", "brown"),
    ("yellow", "brown"),
    ("green", "turquoise"),
    ("turquoise", "blue"),
    ("blue", "purple"),
    ("purple", "pink"),
    ("grey", "black"),
    ("grey", "white"),
    ("brown", "grey"),
    ("dark", "dim"),
    ("dim", "bright"),
    ("single", "few"),
    ("few", "many"),
    ("round", "irregular"),
    ("boxy", "irregular"),
    ("triangular", "irregular"),
)
_NEAR = {frozenset(pair) for pair in _NEIGHBOURS}

_NEGATION = re.compile(
    r"(?:\bno|\bnot|\bwithout|\bneither|\bnor|rather than|instead of|n't)(?:\s+\w+)?\s+$",
    re.IGNORECASE,
)
_EACH = "|".join(
    rf"(?P<{kind}_{value}>(?:{pattern})\b)"
    for kind, values in PATTERNS.items()
    for value, pattern in values.items()
)
_ANY = re.compile(rf"\b(?:{_EACH})", re.IGNORECASE)


def near(first: str, second: str) -> bool:
    """Say whether two values are easily taken for one another."""
    return frozenset((first, second)) in _NEAR


def values(kind: str) -> tuple[str, ...]:
    """Return all the values of a kind of fact."""
    return NAMES if kind == COLOUR else tuple(PATTERNS[kind])


def stated(text: str) -> list[tuple[int, str, str]]:
    """Return (position, kind, value) of each fact a text states, negated ones left out."""
    found = []
    for match in _ANY.finditer(text):
        start = match.start()
        if match.lastgroup and not _NEGATION.search(text, max(0, start - 24), start):
            kind, _, value = match.lastgroup.partition("_")
            found.append((start, kind, value))
    return found
