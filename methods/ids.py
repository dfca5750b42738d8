"""Content ids: hashes of the content they identify.

A rebuild gives the same id to the same content, and no counter is needed.
"""

import hashlib
import json

ID_LENGTH = 20
"""Hex digits kept of a SHA-256: 80 bits, so a collision needs about a trillion ids."""

_DRAWN_DIGITS = 8


def canonical_json(value: object) -> str:
    """Write a JSON value in canonical form: sorted keys, no spaces, non-ASCII unescaped, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def seeded_fraction(*parts: object) -> float:
    """Hash `parts` (JSON values) to a pseudo-random number, 0 up to but not including 1.

    The same parts always give the same number.
    """
    return int(content_id(*parts)[:_DRAWN_DIGITS], 16) / 16**_DRAWN_DIGITS


def content_id(*parts: object) -> str:
    """Return the first 20 hex digits of the SHA-256 of `parts` (JSON values) in canonical form."""
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:ID_LENGTH]
