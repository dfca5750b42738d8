"""Names in messages and files: suggestions for unknown names, shortened lists, unique names."""

import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher

N_NEAREST = 3
N_LISTED = 10
ALIKE = 0.6
"""Least similarity (difflib ratio, 0 to 1) of a suggestion, the default of `get_close_matches`."""
AS_NEAR = 0.15
"""A suggestion may be less similar than the most similar name by at most this much. Chosen by hand."""
LAST_PART = 0.8
"""Weight of the similarity of the last parts of two names, after a dot or slash. Chosen by hand."""
_PARTS = re.compile(r"[a-z_]+[./]([a-z_]\w+)")


def nearest(name: str, candidates: Iterable[str]) -> str:
    """List the names that are most similar to a name, for an error message.

    Case is ignored. The last parts of names are compared, too: `judgment` is similar to
    `evaluate.judgments`.

    Args:
        name: The name that does not exist.
        candidates: All names that exist.

    Returns:
        A part of a sentence with up to three similar names, or with the first ten of all names if no
        name is similar.
    """
    names = sorted(set(candidates))
    similarity = {other: _likeness(name.casefold(), other.casefold()) for other in names}
    least = max(ALIKE, max(similarity.values(), default=0.0) - AS_NEAR)
    near = sorted(
        (other for other in names if similarity[other] >= least),
        key=lambda other: -similarity[other],
    )
    if near:
        near = near[:N_NEAREST]
        return f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
    return f"there {'is' if len(names) == 1 else 'are'} {listed(names)}"


def listed(names: Collection[str], n: int = N_LISTED) -> str:
    """List the first names, separated by commas, and count the others.

    Args:
        names: The names, in the order to list them.
        n: The number of names to write out.

    Returns:
        The list, such as "a, b and 3 more", or "none".
    """
    first = ", ".join(list(names)[:n]) or "none"
    return f"{first} and {len(names) - n} more" if len(names) > n else first


def decimal_text(value: float, decimals: int = 1) -> str:
    """Round a number and write it with a typographic minus sign (U+2212), but never "−0".

    Args:
        value: The number.
        decimals: The number of decimals.

    Returns:
        The text.
    """
    return f"{value:z.{decimals}f}".replace("-", "−")


def number_of(number: int, noun: str) -> str:
    """Write a number with its noun, such as "1 row" and "3 rows".

    Args:
        number: The number.
        noun: The noun in the singular.

    Returns:
        Both, with an "s" for the plural.
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def unique_names(names: Iterable[str]) -> list[str]:
    """Append a number to each name that occurred before, such as "counts-2".

    Args:
        names: The names, in an order that is the same each time.

    Returns:
        A name for each of them.
    """
    unique: dict[str, None] = {}
    for name in names:
        numbered, number = name, 1
        while numbered in unique:
            number += 1
            numbered = f"{name}-{number}"
        unique[numbered] = None
    return list(unique)


def _likeness(name: str, other: str) -> float:
    whole = SequenceMatcher(None, name, other).ratio()
    last = SequenceMatcher(None, _last(name), _last(other)).ratio()
    return max(whole, LAST_PART * last)


def _last(name: str) -> str:
    parts = _PARTS.fullmatch(name)
    return parts[1] if parts else name
