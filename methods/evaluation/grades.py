"""A grade in a judge's reply: an integer from 1 to 10, or a parse error with its reason.

MMDU (2.3), AlignMMBench (4.1) and ConvBench (4.1, direct grading) ask for integers on the same scale,
so one rule parses all three. A parse error is repaired by asking again. docs/guides/judges.md compares
the rule with the released scorers.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from methods.prompts.parsing import ParseError

T = TypeVar("T")
LOWEST, HIGHEST = 1, 10
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


def last_of_equal(written: Sequence[object], parse: Callable[[object], T]) -> T:
    """Read the last of the values of a reply, unless another readable value differs.

    Args:
        written: The values in the order of the reply, at least one.
        parse: Reads a value; may raise ParseError.

    Returns:
        The last value as `parse` reads it.

    Raises:
        ParseError: The error of `parse` for the last value, or `two_ratings`.
    """
    value = parse(written[-1])
    for other in written[:-1]:
        try:
            earlier = parse(other)
        except ParseError:
            continue
        if earlier != value:
            raise ParseError("two_ratings", "The reply gives two different ratings.")
    return value
