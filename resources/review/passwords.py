"""How passwords are stored: as argon2id hashes made by argon2-cffi.

What belongs here: making a hash, comparing a password with a stored one, and the scrypt hashes that
earlier versions stored. These are still verified; `Accounts.check` replaces one when its person next
signs in. Nothing here stores or prints a password.
"""

import hashlib
import hmac
import unicodedata
from base64 import b64decode
from typing import NamedTuple

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

MIN_LENGTH = 10

HASHER = PasswordHasher()
"""The library's defaults, those of RFC 9106 for little memory. A hash names its own parameters, so
that they may change: `needs_rehash` then says of older hashes that they are to be replaced."""

SCRYPT_PREFIX = "scrypt$"


class _ScryptCost(NamedTuple):
    n: int
    r: int
    p: int


_SCRYPT_COST = _ScryptCost(n=2**14, r=8, p=5)
"""Of every scrypt hash that an earlier version made."""
_SCRYPT_SALT_BYTES = 16
_SCRYPT_HASH_BYTES = 32


def check_length(password: str) -> None:
    """Raise ValueError with one sentence if the password is too short."""
    if len(password) < MIN_LENGTH:
        raise ValueError(f"A password has at least {MIN_LENGTH} characters.")


def hash_password(password: str, hasher: PasswordHasher = HASHER) -> str:
    """The argon2id hash of a password, with its salt and parameters."""
    return hasher.hash(_encoded(password))


def verify_password(
    password: str,
    stored: str | None,
    hasher: PasswordHasher = HASHER,
    *,
    scrypt_in_use: bool = False,
) -> bool:
    """Whether `stored` is a hash of this password; False for None and for what is no hash.

    The work does not depend on `stored`, so that the time does not tell which names have an account:
    one argon2id hash and, while any account has a scrypt hash (`scrypt_in_use`), one scrypt hash.
    """
    encoded = _encoded(password)
    is_scrypt = stored is not None and stored.startswith(SCRYPT_PREFIX)
    by_scrypt = scrypt_in_use and _verify_scrypt(encoded, stored if is_scrypt else None)
    return _verify_argon2(encoded, None if is_scrypt else stored, hasher) or by_scrypt


def needs_rehash(stored: str, hasher: PasswordHasher = HASHER) -> bool:
    """Whether a hash that was just verified is a scrypt hash or has other parameters than new ones."""
    return stored.startswith(SCRYPT_PREFIX) or hasher.check_needs_rehash(stored)


def _verify_argon2(encoded: bytes, stored: str | None, hasher: PasswordHasher) -> bool:
    if stored is not None:
        try:
            return hasher.verify(stored, encoded)
        except VerifyMismatchError:
            return False
        except (VerificationError, InvalidHashError):
            pass  # no argon2 hash, and refused without any work
    hasher.hash(encoded)
    return False


def _verify_scrypt(encoded: bytes, stored: str | None) -> bool:
    if stored is not None:
        try:
            _, n, r, p, salt, digest = stored.split("$")
            cost = _ScryptCost(int(n), int(r), int(p))
            return hmac.compare_digest(_scrypt(encoded, b64decode(salt), cost), b64decode(digest))
        except ValueError:
            pass  # no scrypt hash
    _scrypt(encoded, bytes(_SCRYPT_SALT_BYTES), _SCRYPT_COST)
    return False


def _scrypt(encoded: bytes, salt: bytes, cost: _ScryptCost) -> bytes:
    memory = 128 * cost.r * (cost.n + cost.p + 2)
    return hashlib.scrypt(
        encoded, salt=salt, n=cost.n, r=cost.r, p=cost.p, maxmem=memory, dklen=_SCRYPT_HASH_BYTES
    )


def _encoded(password: str) -> bytes:
    # Keyboards differ in how they encode the same accent; odd clients send lone surrogates.
    return unicodedata.normalize("NFKC", password).encode(errors="surrogatepass")
