"""How passwords are stored: as argon2id hashes made by argon2-cffi.

What belongs here: making a hash, and comparing a password with a stored one. Nothing here stores or
prints a password.
"""

import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

MIN_LENGTH = 10

HASHER = PasswordHasher()
"""The library's defaults, those of RFC 9106 for little memory. A hash names its own parameters, so
that they may change: `needs_rehash` then says of older hashes that they are to be replaced."""


def check_length(password: str) -> None:
    """Raise ValueError with one sentence if the password is too short."""
    if len(password) < MIN_LENGTH:
        raise ValueError(f"A password has at least {MIN_LENGTH} characters.")


def hash_password(password: str, hasher: PasswordHasher = HASHER) -> str:
    """The argon2id hash of a password, with its salt and parameters."""
    return hasher.hash(_encoded(password))


def verify_password(password: str, stored: str | None, hasher: PasswordHasher = HASHER) -> bool:
    """Whether `stored` is a hash of this password; False for None and for what is no hash.

    The work, one hash, does not depend on `stored`, so that the time does not tell which names have an
    account.
    """
    encoded = _encoded(password)
    if stored is not None:
        try:
            return hasher.verify(stored, encoded)
        except VerifyMismatchError:
            return False
        except (VerificationError, InvalidHashError):
            pass  # no argon2 hash, and refused without any work
    hasher.hash(encoded)
    return False


def needs_rehash(stored: str, hasher: PasswordHasher = HASHER) -> bool:
    """Whether a hash that was just verified has other parameters than new ones."""
    return hasher.check_needs_rehash(stored)


def _encoded(password: str) -> bytes:
    # Keyboards differ in how they encode the same accent; odd clients send lone surrogates.
    return unicodedata.normalize("NFKC", password).encode(errors="surrogatepass")
