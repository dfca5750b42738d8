"""Validation of account names and passwords, look-alike names, and password hashes."""

import re
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

from methods.errors import UserError
from methods.unicode_forms import in_form

MAX_LENGTH = 40
MOST_TYPED = 4 * MAX_LENGTH
"""Maximum number of characters of a name before it is normalized: one character has up to four."""

# Characters that are printable according to Python, but invisible.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U0001107f\U00016fe4\U0001bc9d\U000e0100-\U000e01ef]"
)
_PUNCTUATION = " .-_'@"
_LOOK_ALIKE = ("LATIN ", "GREEK ", "CYRILLIC ")


class AccountError(UserError):
    """An account cannot be made, changed or signed in; the message says why in one sentence."""


def checked_name(name: str) -> str:
    """Validate a name and return it in Unicode NFC. Raises AccountError if it is not valid.

    A name has 1 to 40 characters: letters and digits of any script, and between them spaces and `. - _
    ' @`. Colons are not allowed, so that no person has the name of a policy (`policy:none`).
    """
    if len(name) <= MOST_TYPED:
        name = in_form("NFC", name)
    if not 1 <= len(name) <= MAX_LENGTH:
        raise AccountError(f"A name has 1 to {MAX_LENGTH} characters: this one has {len(name)}.")
    wrong = [char for char in name if not _is_allowed(char)]
    if wrong:
        raise AccountError(
            f"A name has letters, digits and any of . - _ ' @ only: not {wrong[0]!a}."
        )
    if not (name[0].isalnum() and (name[-1].isalnum() or _is_accent(name[-1]))):
        raise AccountError("A name begins and ends with a letter or a digit.")
    if "  " in name:
        raise AccountError("A name has no two blanks in a row.")
    scripts = {script for script in _LOOK_ALIKE for char in name if _is_of(script, char)}
    if len(scripts) > 1:
        raise AccountError("A name has no letters of different alphabets that look alike.")
    return name


def folded_name(name: str) -> str:
    """Normalize a name: names that differ only by case, width or encoding of accents become equal."""
    folded = in_form("NFKC", in_form("NFKC", name).casefold())
    # SQLite refuses lone surrogates, which JSON can carry.
    return folded.encode(errors="replace").decode()


def _is_allowed(char: str) -> bool:
    if _INVISIBLE.match(char):
        return False
    return char.isalnum() or char in _PUNCTUATION or _is_accent(char)


def _is_accent(char: str) -> bool:
    return unicodedata.category(char) in ("Mn", "Mc")


def _is_of(script: str, char: str) -> bool:
    return unicodedata.name(char, "").startswith(script)


HASHER = PasswordHasher()
"""argon2id with the library's defaults, the low-memory parameters of RFC 9106. A hash contains its
parameters, so they may change: `check_needs_rehash` detects hashes with older ones."""


def hash_password(password: str, hasher: PasswordHasher = HASHER) -> str:
    """Hash a password with argon2id.

    Args:
        password: The password.
        hasher: The hash function with its parameters.

    Returns:
        The hash with its salt and parameters.
    """
    return hasher.hash(_encoded(password))


def verify_password(password: str, stored: str | None, hasher: PasswordHasher = HASHER) -> bool:
    """Check a password against a hash.

    It always computes one hash, so the response time does not reveal which names have an account.

    Args:
        password: The password.
        stored: The stored hash; None if there is no account or no password.
        hasher: The hash function with its parameters.

    Returns:
        True if the hash is one of this password.
    """
    encoded = _encoded(password)
    if stored is not None:
        try:
            return hasher.verify(stored, encoded)
        except VerifyMismatchError:
            return False
        except (VerificationError, InvalidHashError):
            pass  # not an argon2 hash: nothing was computed yet
    hasher.hash(encoded)
    return False


def _encoded(password: str) -> bytes:
    # Keyboards encode the same accent in different ways; some clients send lone surrogates.
    return in_form("NFKC", password).encode(errors="surrogatepass")
