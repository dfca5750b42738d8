"""Identity by content.

Every id in the system is a hash of what it names, so a rebuild gives the same id to the same thing
and nothing has to be counted. What belongs here: the one canonical form, the one hash, the one
bucket function. What does not: what goes into the id of a particular thing (its own module says).
"""

import hashlib
import json

ID_LENGTH = 20
"""Hex digits kept of a SHA-256: 80 bits, so a collision needs about a trillion ids."""


def canonical_json(value: object) -> str:
    """The one text form of a JSON value: sorted keys, no spaces, UTF-8, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def content_id(*parts: object) -> str:
    """Hash of `parts` (JSON values) in canonical form, the first 20 hex digits of SHA-256."""
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:ID_LENGTH]


def bucket_of(content_id: str, n_buckets: int) -> int:
    """Bucket in [0, n_buckets) of an id: a function of the id alone, so a row never moves."""
    return int(content_id[:8], 16) % n_buckets
