"""A grade in a judge's reply: an integer from 1 to 10, or a parse error with its reason.

MMDU (2.3), AlignMMBench (4.1) and ConvBench (4.1, direct grading) ask for integers on the same scale,
so one rule parses all three. A parse error is repaired by asking again. docs/guides/judges.md compares
the rule with the released scorers.
"""

import re
from collections.abc import Sequence

from methods.prompts.parsing import ParseError

LOWEST, HIGHEST = 1, 10
_NO_GRADE = re.compile(r"[\W_]*|<\s*\d+\s*[-–]\s*\d+\s*>")
"""A value that states no grade: no letter or digit, or the range in the form of a prompt."""
_NUMBER = re.compile(r"(?:[^\d:：]*+[:：])?\W*(\d+(?:[.,]\d+)?)")
"""The number that begins a value, also after a second label, as in "My rating: **Rating:** 8"."""
_WHOLE = re.compile(r"[0-9０-９]{1,4}(?:\.0+)?")


def read_grade(value: object, name: str) -> int:
    """Read a grade from a value of a parsed reply.

    A whole number is read in any notation: 8, 8.0, "8", "8.0", "８".

    Args:
        value: The value.
        name: The name of the grade, for messages.

    Returns:
        The grade, 1 to 10.

    Raises:
        ParseError: `not_an_integer` (8.5, "8/10", "eight", true, null, a list) or `out_of_range` (0,
            11, a negative number).
    """
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        value = float(value)
    # To read any other value would be a guess.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value % 1:
        raise ParseError("not_an_integer", f"{name} is {str(value)[:40]!r}, not an integer.")
    if not LOWEST <= value <= HIGHEST:
        shown = str(value)[:40] if isinstance(value, int) else f"{value:g}"
        raise ParseError("out_of_range", f"{name} is {shown}, outside {LOWEST} to {HIGHEST}.")
    return int(value)


def last_of_equal(written: Sequence[object], name: str) -> int:
    """Read the last of the grades in the objects of a reply, unless another one differs.

    A judge may quote a grade that the answer demands, so a reply with two grades is contradictory, also
    if only one of them is valid.

    Args:
        written: The values in the order of the reply, at least one.
        name: The name of the grade, for messages.

    Returns:
        The last value as `read_grade` reads it.

    Raises:
        ParseError: The error of `read_grade` for the last value, or `two_ratings`.
    """
    grade = read_grade(written[-1], name)
    for value in written[:-1]:
        if isinstance(value, str) and _NO_GRADE.fullmatch(value):
            continue
        try:
            other: object = read_grade(value, name)
        except ParseError:
            other = value
        _require_equal(grade, other, name)
    return grade


def require_same_in_text(grade: float, written: Sequence[object], name: str) -> None:
    """Check that the text around the objects of a reply does not state another grade.

    Args:
        grade: The grade in the objects.
        written: The values after the name of the grade in the text. Only a number that begins a value
            is a grade, such as the 8 in "8/10".
        name: The name of the grade, for messages.

    Raises:
        ParseError: `two_ratings`.
    """
    for match in filter(None, (_NUMBER.match(str(value)) for value in written)):
        _require_equal(grade, float(match[1].replace(",", ".")), name)


def _require_equal(grade: float, other: object, name: str) -> None:
    if grade != other:
        shown = f"{other:g}" if isinstance(other, float) else repr(other)[:40]
        raise ParseError("two_ratings", f"{name} is {grade:g} and also {shown}. State one grade.")
