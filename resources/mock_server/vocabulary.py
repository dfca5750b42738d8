"""The mock server's vocabulary of visual facts: answers are written in these words, and the mock judge
finds them in answers, with the images that they refer to.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from resources.mock_server.image_facts import COLOUR_NAMES, Facts

KEPT_TEXTS = 2_000
"""The most texts whose facts are cached: a judge gets the same reference with many answers."""

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

_CHINESE_COLOURS = (
    *("红色", "橙色", "黄色", "绿色", "青色", "蓝色"),
    *("紫色", "粉色", "棕色", "灰色", "黑色", "白色"),
)
CHINESE: dict[str, dict[str, str]] = {
    COLOUR: dict(zip(COLOUR_NAMES, _CHINESE_COLOURS, strict=True)),
    LIGHT: {"dark": "黑暗", "dim": "昏暗", "bright": "明亮"},
    VIVIDNESS: {"vivid": "鲜艳", "muted": "柔和"},
    SHAPE: {"round": "圆形", "boxy": "方形", "triangular": "三角形", "irregular": "不规则形"},
    PLACE: {"left": "左侧", "centre": "中央", "right": "右侧"},
    COUNT: {"single": "单个", "few": "少量", "many": "大量"},
    ORIENTATION: {"landscape": "横向", "portrait": "纵向", "square": "方正"},
}
"""The Chinese word of each value. No word is a part of another one."""

_NEIGHBOURS = {
    "red": ("orange", "pink", "brown"),
    "orange": ("yellow", "brown"),
    "yellow": ("brown",),
    "green": ("turquoise",),
    "turquoise": ("blue",),
    "blue": ("purple",),
    "purple": ("pink",),
    "grey": ("black", "white", "brown"),
    "dim": ("dark", "bright"),
    "few": ("single", "many"),
    "irregular": ("round", "boxy", "triangular"),
}
"""Values that are easily confused, each pair once."""
_NEAR = {frozenset((value, other)) for value, others in _NEIGHBOURS.items() for other in others}

_NEGATION = re.compile(
    r"(?:\bno|\bnot|\bwithout|\bneither|\bnor|rather than|instead of|n't)(?:\s+\w+)?\s+$",
    re.IGNORECASE,
)
_ANY_VALUE = "|".join(
    rf"(?P<{kind}_{value}>(?:{pattern})\b)"
    for kind, values in PATTERNS.items()
    for value, pattern in values.items()
)
_ANY = re.compile(rf"\b(?:{_ANY_VALUE})", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_MENTION = re.compile(
    r"<image-(?P<token>\d+)>|\bimage[ -]?(?P<digits>\d+)\b"
    rf"|\b(?P<ordinal>{'|'.join(_ORDINALS)}) (?:image|picture|photo|photograph|one)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s*(?:,|and|&|,\s*and|\s)\s*", re.IGNORECASE)


def near(first: str, second: str) -> bool:
    """Tell whether two values are easily confused.

    Args:
        first: A value.
        second: A value.
    """
    return frozenset((first, second)) in _NEAR


def values(kind: str) -> tuple[str, ...]:
    """Return all the values of a kind of fact."""
    return COLOUR_NAMES if kind == COLOUR else tuple(PATTERNS[kind])


@lru_cache(maxsize=KEPT_TEXTS)
def stated(text: str) -> tuple[tuple[int, str, str], ...]:
    """Return (position, kind, value) of each fact that a text states, without negated facts."""
    facts = []
    for match in _ANY.finditer(text):
        start = match.start()
        if match.lastgroup and not _NEGATION.search(text, max(0, start - 24), start):
            kind, _, value = match.lastgroup.partition("_")
            facts.append((start, kind, value))
    return tuple(facts)


@dataclass(frozen=True)
class StatedFact:
    """A fact that a text states about one image."""

    image: int
    kind: str
    value: str


def _mentions(text: str) -> list[tuple[int, tuple[int, ...]]]:
    """Return (position, image numbers) of each mention; mentions joined by "and" count as one."""
    mentions: list[tuple[int, tuple[int, ...]]] = []
    end = -1
    for match in _MENTION.finditer(text):
        number = _number(match)
        if mentions and _JOINED.fullmatch(text, end, match.start()):
            mentions[-1] = (mentions[-1][0], (*mentions[-1][1], number))
        else:
            mentions.append((match.start(), (number,)))
        end = match.end()
    return mentions


def mentioned(text: str) -> set[int]:
    """Return the numbers of all images that a text mentions."""
    return {number for _, group in _mentions(text) for number in group}


def stated_facts(text: str, default: int | None = None) -> list[StatedFact]:
    """List the distinct facts of a text in order.

    A fact belongs to the images mentioned last before it; before any mention to the default image.

    Args:
        text: The text.
        default: The default image; None for none.
    """
    groups = _mentions(text)
    facts: dict[StatedFact, None] = {}
    for position, kind, value in stated(text):
        pictures: tuple[int, ...] = () if default is None else (default,)
        for start, group in groups:
            if start < position:
                pictures = group
        for picture in pictures:
            facts[StatedFact(picture, kind, value)] = None
    return list(facts)


def true_values(facts: Facts, kind: str) -> tuple[str, ...]:
    """Return the right values of a kind of fact, the most important one first.

    Args:
        facts: The facts of an image.
        kind: The kind of fact.
    """
    if kind == COLOUR:
        return tuple(dict.fromkeys((*facts.colour_names, facts.background)))
    return (str(getattr(facts, kind)),)


def correctness(fact: StatedFact, facts: Facts) -> float:
    """Grade a stated fact: 1 if it is right, 0.5 if it is nearly right, 0 if it is wrong.

    Args:
        fact: The stated fact.
        facts: The facts of the image.
    """
    right = true_values(facts, fact.kind)
    if fact.value in right:
        return 1.0
    return 0.5 if any(near(fact.value, value) for value in right) else 0.0


def _number(match: re.Match[str]) -> int:
    if match.group("ordinal"):
        return _ORDINALS.index(match.group("ordinal").lower()) + 1
    return int(match.group("token") or match.group("digits"))
