"""How passwords are kept: as scrypt's hash, with its salt and cost beside it.

What belongs here: making such a hash and comparing with one. Nothing here keeps or prints a password.
"""

import hashlib
import hmac
import secrets
import unicodedata
from base64 import b64decode, b64encode
from typing import NamedTuple

MIN_LENGTH = 10


class Cost(NamedTuple):
    """What one hash takes: memory is 128 * n * r bytes, time grows with all three."""

    n: int
    r: int
    p: int


COST = Cost(n=2**14, r=8, p=5)
"""16 MiB and about 0.2 s. As strong by OWASP's table as n=2^17, p=1, which takes 128 MiB, and many
may sign in at once. What is kept names its own cost, so this may grow."""

_SALT_BYTES = 16
_HASH_BYTES = 32


def check_length(password: str) -> None:
    """Raises ValueError with one sentence if nobody should have this password."""
    if len(password) < MIN_LENGTH:
        raise ValueError(f"A password has at least {MIN_LENGTH} characters.")


def hashed(password: str) -> str:
    """What is kept of a password: `scrypt$n$r$p$salt$hash`, salt and hash in base64."""
    salt = secrets.token_bytes(_SALT_BYTES)
    numbers = "$".join(map(str, COST))
    digest = _scrypt(password, salt, COST)
    return f"scrypt${numbers}${b64encode(salt).decode()}${b64encode(digest).decode()}"


def matches(password: str, kept: str | None) -> bool:
    """Whether this is the password that was kept; where none was, as much work for a False."""
    if kept is None:
        _scrypt(password, bytes(_SALT_BYTES), COST)
        return False
    _, n, r, p, salt, digest = kept.split("$")
    found = _scrypt(password, b64decode(salt), Cost(int(n), int(r), int(p)))
    return hmac.compare_digest(found, b64decode(digest))


def _scrypt(password: str, salt: bytes, cost: Cost) -> bytes:
    # Keyboards differ in how they encode the same accent; lone surrogates come from odd forms.
    said = unicodedata.normalize("NFKC", password).encode(errors="surrogatepass")
    memory = 128 * cost.r * (cost.n + cost.p + 2)
    return hashlib.scrypt(
        said, salt=salt, n=cost.n, r=cost.r, p=cost.p, maxmem=memory, dklen=_HASH_BYTES
    )
