"""Numbers that an English text has in words, as digits.

What belongs here: the words, months among them: in many languages a month has its number for a name.
"""

import re
from collections.abc import Iterator

_ONES = (
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
    ),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = (
    *(
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
    ),
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"),
    *("eighteenth", "nineteenth", "twentieth"),
)
"""The first twenty; those up to the twelfth are read as numbers."""
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_VALUES = {
    **{word: number for number, word in enumerate(_ONES)},
    **{word: 10 * number for number, word in enumerate(_TENS, start=2)},
    **{word: number for number, word in enumerate(ORDINALS[:12], start=1)},
    **{word: number for number, word in enumerate(_MONTHS, start=1)},
    **{"once": 1, "single": 1, "twice": 2, "pair": 2, "couple": 2, "dozen": 12},
    **{"hundred": 100, "thousand": 1000},
}
CARDINALS = {
    word: value
    for word, value in _VALUES.items()
    if word in (*_ONES[2:], *_TENS, "hundred", "thousand")
}
"""Words that are a number and nothing else, as `one` and `second` are not."""
_WORDS = re.compile(r"[a-z]+")
_COMPOUND = re.compile(rf"({'|'.join(_TENS)})[- ]({'|'.join(_ONES[1:10])})\b")


def written_numbers(text: str) -> Iterator[str]:
    """The numbers of a text that stand in it in words, in digits; of `twenty-one` 21, 20 and 1."""
    text = text.casefold()
    for compound in _COMPOUND.finditer(text):
        yield str(_VALUES[compound[1]] + _VALUES[compound[2]])
    for word in _WORDS.findall(text):
        if word in _VALUES:
            yield str(_VALUES[word])
