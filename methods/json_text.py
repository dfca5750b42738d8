"""JSON that may come from outside: a server, a model, a file that anybody made.

The one place that decodes JSON; a lint rule bans `json.loads` elsewhere. What Python's decoder accepts
and nothing after it can hold is decided here, so that whoever gets a value can encode it, walk through
it and store it.
"""

import json
import math
from collections.abc import Iterable
from typing import Any

MOST_DEPTH = 100
"""Lists and objects inside each other. Python's own limit depends on who calls, and what decodes within
it may not encode within it."""
MOST_CHARACTERS = 100_000_000
"""Of one text; the longest are lines with images in base64. Replies of models have a lower limit."""
MOST_DIGITS = 100
"""Of a whole number; a float holds 308, and Python reads 4,300."""


class NestingError(ValueError):
    """More lists and objects stand inside each other than are read."""

    def __init__(self) -> None:
        super().__init__(f"more than {MOST_DEPTH} lists and objects stand inside each other")


class DuplicateKeyError(ValueError):
    """An object gives one name to two values, of which a program reads one and drops the other."""


def from_json(
    text: str | bytes, most: int | None = MOST_CHARACTERS, *, unambiguous: bool = False
) -> Any:
    """Decode a JSON text.

    NaN, infinities and whole numbers of more than 100 digits become None, because no table can hold
    them and other programs write NaN for a missing number. A lone surrogate stays as it is: see
    `storable`.

    Args:
        text: The text; bytes are decoded by the encoding that their first bytes show.
        most: The largest number of characters; None if something else limits the text.
        unambiguous: Whether an object may not give one name two values.

    Returns:
        The decoded value.

    Raises:
        ValueError: The text is not JSON, too long or nested too deeply.
        DuplicateKeyError: A name has two values, and the text has to be `unambiguous`.
    """
    if most is not None and len(text) > most:
        raise ValueError(f"it has more than {most:,} characters")
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    elif text.startswith("\ufeff"):
        raise ValueError("it begins with a byte order mark")
    try:
        value = (_UNAMBIGUOUS if unambiguous else _STRICT).decode(text)
    except RecursionError:
        raise NestingError from None
    _require_shallow(value, text)
    return value


def json_at(text: str, start: int) -> tuple[Any, int]:
    """Decode the JSON value that begins at a place of a text. It may contain bare line breaks.

    Numbers are read as by `from_json`.

    Args:
        text: The text.
        start: The place where the value begins.

    Returns:
        The value, and the place after it.

    Raises:
        ValueError: There is no JSON value, or an object gives one name two values.
        NestingError: Values are nested too deeply.
    """
    try:
        value, end = _LENIENT.raw_decode(text, start)
    except RecursionError:
        raise NestingError from None
    _require_shallow(value, text[start:end])
    return value, end


def to_json(value: object, indent: int | None = None) -> str:
    """Encode a value as JSON that every file and table can hold.

    Args:
        value: The value.
        indent: Spaces per level; None writes everything on one line.

    Returns:
        The JSON text.

    Raises:
        ValueError: The value cannot be written as JSON.
    """
    try:
        return storable(json.dumps(value, ensure_ascii=False, indent=indent))
    except (RecursionError, TypeError) as error:
        raise ValueError(f"it cannot be written as JSON ({error})") from None


def storable(text: str) -> str:
    """`text` with lone surrogates replaced.

    No database stores them, and one such answer would make the commit of others fail.
    """
    return text.encode("utf-8", "replace").decode()


def is_unicode(text: str) -> bool:
    """Whether the text can be written at all: half a character, a lone surrogate, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _require_shallow(value: object, text: str) -> None:
    # Brackets are counted first: nearly all texts have too few to be deep.
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return
    level = [value]
    for _ in range(MOST_DEPTH):
        inside = (part for holder in level for part in _parts(holder))
        level = [part for part in inside if isinstance(part, (dict, list))]
        if not level:
            return
    raise NestingError


def _parts(holder: object) -> Iterable[object]:
    if isinstance(holder, dict):
        return holder.values()
    return holder if isinstance(holder, list) else ()


def _fraction(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _whole(text: str) -> int | None:
    return int(text) if len(text.removeprefix("-")) <= MOST_DIGITS else None


def _no_number(_constant: str) -> None:
    """NaN, Infinity and -Infinity are no JSON."""


def _without_contradiction(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if values.setdefault(name, value) != value:
            raise DuplicateKeyError(f"two values have the name {name[:40]!r}")
    return values


_STRICT, _UNAMBIGUOUS, _LENIENT = (
    json.JSONDecoder(
        parse_float=_fraction,
        parse_int=_whole,
        parse_constant=_no_number,
        strict=strict,
        object_pairs_hook=_without_contradiction if unambiguous else None,
    )
    for strict, unambiguous in ((True, False), (True, True), (False, True))
)
