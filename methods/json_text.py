"""Safe decoding and encoding of JSON from outside: servers, models, files of users.

All JSON is decoded here; a lint rule bans `json.loads` elsewhere. Python's decoder accepts values that
later steps cannot encode, walk through or store (NaN, huge integers, deep nesting). This module rejects
or replaces them.
"""

import json
import math
from collections.abc import Iterable
from typing import Any

MOST_DEPTH = 100
"""The most levels of nested lists and objects. Python's own recursion limit depends on the caller, and
a value that decodes within it may not encode within it."""
MOST_CHARACTERS = 100_000_000
"""The most characters of a text. The longest are lines with images in base64; replies of models have a
lower limit."""
MOST_DIGITS = 100
"""The most digits of a whole number. A float can have up to 309 of them, and Python reads 4,300."""

_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}
"""Characters that end a line for some readers, but not in JSON."""


class NestingError(ValueError):
    """Lists and objects are nested more than `MOST_DEPTH` levels deep."""

    def __init__(self) -> None:
        super().__init__(f"more than {MOST_DEPTH} lists and objects stand inside each other")


class DuplicateKeyError(ValueError):
    """An object has one name with two different values. A program would silently drop one of them."""


def from_json(
    text: str | bytes, most: int | None = MOST_CHARACTERS, *, unambiguous: bool = False
) -> Any:
    """Decode a JSON text.

    NaN, infinities and whole numbers of more than 100 digits become None: no table can hold them, and
    other programs write NaN for a missing number. Lone surrogates are kept; `storable` replaces them.

    Args:
        text: The text. The encoding of bytes is detected from the first bytes.
        most: The largest number of characters; None if the caller limits the text.
        unambiguous: Whether to reject an object that has one name with two different values.

    Returns:
        The decoded value.

    Raises:
        ValueError: The text is not JSON, too long or nested too deeply.
        DuplicateKeyError: A name has two different values, and `unambiguous` is set.
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
    """Decode the JSON value that begins at a position of a text. Texts in it may have bare line breaks.

    Numbers are read as in `from_json`.

    Args:
        text: The text.
        start: The position of the first character of the value.

    Returns:
        The value, and the position after it.

    Raises:
        ValueError: There is no JSON value, or an object has one name with two different values.
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


def json_line(value: object) -> str:
    """Encode a value as a line of JSON Lines that no reader splits at a character of a text."""
    return json.dumps(value, ensure_ascii=False).translate(_LINE_ENDS) + "\n"


def storable(text: str) -> str:
    """Replace lone surrogates in a text.

    Databases cannot store them, so one such answer would make the commit of other answers fail, too.
    """
    return text.encode("utf-8", "replace").decode()


def is_unicode(text: str) -> bool:
    """Check that a text can be encoded as UTF-8: that it has no lone surrogate (half a character)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _require_shallow(value: object, text: str) -> None:
    # Counting brackets is fast, and nearly all texts have too few to be nested deeply.
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
    if value.is_integer() and text.partition(".")[2].strip("0").isdigit():
        value = math.nextafter(value, 0.0)  # 7.99999999999999999999 is not rounded to 8.
    return value if math.isfinite(value) else None


def _whole(text: str) -> int | None:
    return int(text) if len(text.removeprefix("-")) <= MOST_DIGITS else None


def _no_number(_constant: str) -> None:
    """NaN, Infinity and -Infinity are no valid JSON and become None."""


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
