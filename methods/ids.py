"""Content ids: hashes of the content they identify.

A rebuild gives the same id to the same content, and no counter is needed. What belongs here: the
canonical form, the hash. What does not: what is hashed for a particular kind of
thing (its own module).
"""

import hashlib
import json

ID_LENGTH = 20
"""Hex digits kept of a SHA-256: 80 bits, so a collision needs about a trillion ids."""


def canonical_json(value: object) -> str:
    """The canonical text of a JSON value: sorted keys, no spaces, UTF-8, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def content_id(*parts: object) -> str:
    """The first 20 hex digits of the SHA-256 of `parts` (JSON values) in canonical form."""
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:ID_LENGTH]
