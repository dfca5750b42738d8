"""Values of answers by rule, for your own benchmarks: F1 of sets, numbers with a tolerance.

    F1 = 2 |named & reference| / (|named| + |reference|)

A benchmark's `judge` returns such a value as an observation from 0 to 1, and `Mean` averages it.
"""

import math
import re
from collections import deque
from collections.abc import Iterable

from methods.unicode_forms import in_form

_BLANKS = " \u00a0\u2009\u202f"
_NUMBER = re.compile(
    rf"(?<![\w.])(?P<sign>[-+\u2212]?)(?P<digits>(?:\d++|(?=\.\d))(?:[.,'’]\d++|[{_BLANKS}]\d{{3}}(?!\d))*+)"
    r"(?:(?P<exponent>(?:[eE][-+]?\d++)?+)(?!\w))?"
)
"""A number. Without its exponent, which may be empty, it is a part of a word, and no other number is
searched in it."""
_POINT = re.compile(
    rf"[1-9]\d{{0,2}}(?:([,'’{_BLANKS}])\d{{3}})(?:\1\d{{3}})*(?:\.\d+)?|\d*(?:\.\d+)?"
)
_COMMA = re.compile(
    rf"[1-9]\d{{0,2}}(?:([.'’{_BLANKS}])\d{{3}})(?:\1\d{{3}})*,\d+|[1-9]\d{{0,2}}(?:\.\d{{3}}){{2,}}|\d+,\d+"
)
"""Numbers with a decimal point and with a decimal comma, with or without marks between thousands."""
_SEPARATORS = re.compile(r"[,;\n、，；]|\band\b")
SMALL_DIGITS = "²³¹⁰-ⁿ₀-₎¼-¾⅐-⅟"
"""Superscripts, subscripts and fractions, in a character class of a regular expression."""
_OTHERS = re.compile(f"[^{SMALL_DIGITS}]+")
_AROUND = " \t.。!\"'“”‘’()[]*-•"


def set_f1(answers: Iterable[str], reference: Iterable[str]) -> float:
    """Compute F1 of two sets of texts.

    Args:
        answers: The texts that the model named, in any order; case, width and outer marks do not count.
        reference: The right texts.

    Returns:
        0 to 1; 1 if both are empty.
    """
    named, right = ({_folded(text) for text in texts} - {""} for texts in (answers, reference))
    if not named and not right:
        return 1.0
    return 2 * len(named & right) / (len(named) + len(right))


def listed_texts(answer: str) -> list[str]:
    """Split an answer that is a list: by commas, semicolons, lines and "and"."""
    return [part.strip(_AROUND) for part in _SEPARATORS.split(answer) if part.strip(_AROUND)]


def last_number(answer: str) -> float | None:
    """Find the last number of an answer.

    Thousands may have commas, blanks or apostrophes between them (1,234.5 or 1 234), or points before a
    decimal comma (1.234,5). A comma before three digits is one of thousands, except in 0,125.

    Args:
        answer: The text of an answer.

    Returns:
        The number; None if there is none, or if the last one can be read in several ways (1,2,3).
    """
    numbers = (match for match in _NUMBER.finditer(answer) if match["exponent"] is not None)
    last = next(iter(deque(numbers, maxlen=1)), None)
    if last is None:
        return None
    digits, sign = last["digits"], last["sign"].replace("\u2212", "-")
    if _POINT.fullmatch(digits):
        digits = digits.replace(",", "")
    elif _COMMA.fullmatch(digits):
        digits = digits.replace(".", "").replace(",", ".")
    else:
        return None
    return float(sign + re.sub(rf"['’{_BLANKS}]", "", digits) + last["exponent"])


def is_near(
    number: float | None, reference: float, *, relative: float = 0.0, absolute: float = 0.0
) -> float:
    """Tell whether a number is right within a tolerance.

    Args:
        number: The number of the answer; None for an answer without a number.
        reference: The right number.
        relative: Tolerance as a share of the reference, such as 0.05.
        absolute: Tolerance in the unit of the reference; the larger of both tolerances applies.

    Returns:
        1.0 or 0.0.
    """
    tolerance = max(relative * abs(reference), absolute)
    return float(
        number is not None
        and (math.isclose(number, reference, abs_tol=1e-12) or abs(number - reference) <= tolerance)
    )


def in_one_width(text: str) -> str:
    """Write characters in one width (NFKC), but keep small digits: "2³" is not "23"."""
    return _OTHERS.sub(lambda match: in_form("NFKC", match[0]), text)


def _folded(text: str) -> str:
    return " ".join(in_one_width(text).casefold().split()).strip(_AROUND)
