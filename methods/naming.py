"""Names in messages: suggestions for unknown names, shortened lists, counts with nouns."""

import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher

N_NEAREST = 3
N_LISTED = 10
ALIKE = 0.6
"""Share of two names that is to be the same: that of difflib's `get_close_matches`."""
AS_NEAR = 0.15
"""How much less like it than the nearest a name may be that is named beside that one."""
LAST_PART = 0.8
"""What the same last part of two names is worth of what the same name is."""
_PARTS = re.compile(r"[a-z_]+[./]([a-z_]\w+)")


def nearest(name: str, candidates: Iterable[str]) -> str:
    """List the names that are most similar to a name, for an error message.

    Case does not count. The last part of a name counts as a name, too: `judgment` is similar to
    `evaluate.judgments`.

    Args:
        name: The name that does not exist.
        candidates: All names that exist.

    Returns:
        A part of a sentence with the similar names, or with up to ten of all names if none is similar.
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
        n: How many of them are written out.

    Returns:
        The list, such as "a, b and 3 more", or "none".
    """
    first = ", ".join(list(names)[:n]) or "none"
    return f"{first} and {len(names) - n} more" if len(names) > n else first


def decimal_text(value: float, decimals: int = 1) -> str:
    """Round a number, with a true minus sign; what is rounded to zero has no sign.

    Args:
        value: The number.
        decimals: Its decimals.

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


def _likeness(name: str, other: str) -> float:
    whole = SequenceMatcher(None, name, other).ratio()
    last = SequenceMatcher(None, _last(name), _last(other)).ratio()
    return max(whole, LAST_PART * last)


def _last(name: str) -> str:
    parts = _PARTS.fullmatch(name)
    return parts[1] if parts else name
