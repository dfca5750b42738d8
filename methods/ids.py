"""Content ids: hashes of the content they identify.

A rebuild gives the same id to the same content, and no counter is needed.
"""

import hashlib
import json

ID_LENGTH = 20
"""Hex digits kept of a SHA-256: 80 bits, so a collision needs about a trillion ids."""

_DRAWN_DIGITS = 8


def canonical_json(value: object) -> str:
    """The canonical text of a JSON value: sorted keys, no spaces, UTF-8, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def seeded_fraction(*parts: object) -> float:
    """A number from 0 to 1 that `parts` (JSON values) decide, as if by chance: always the same."""
    return int(content_id(*parts)[:_DRAWN_DIGITS], 16) / 16**_DRAWN_DIGITS


def content_id(*parts: object) -> str:
    """The first 20 hex digits of the SHA-256 of `parts` (JSON values) in canonical form."""
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:ID_LENGTH]
