"""URLs: removes secrets, such as a password or a token in the query, and reads credentials."""

import re
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

_SECRET = re.compile(
    r".*(token|secret|password|passwd|signature|credential|apikey|accesskeyid|authorization)s?"
    r"|(.*[-_.])?(key|auth|pass|pwd|sig|jwt|hmac|sid|session|sessionid)",
    re.IGNORECASE,
)
"""Usual names of query parameters whose values are secrets."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://[^\s\"<>]+", re.IGNORECASE)

_BEGINNING = re.compile(r"^\s*([a-z][a-z0-9+.-]*:(?=/))?/*", re.IGNORECASE)
"""A scheme, if any, with any number of slashes."""
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(:[0-9]{1,5})?")
"""A host, perhaps with a port."""
_BEHIND_PATH = re.compile("[?#;]|%3f", re.IGNORECASE)

_LEFT_OUT = re.compile("[\t\r\n]")
"""Characters that `urlsplit` leaves out of an address."""
_LONGEST_HOST = 253
"""The number of characters of the longest host name in DNS."""


class Credentials(NamedTuple):
    """A user name and a password, percent-decoded."""

    user: str
    password: str


def split_address(address: str) -> SplitResult:
    """Split an address from outside. Raises ValueError if it is not valid.

    `urlsplit` normalizes a host that is not ASCII, and takes minutes for a long one.
    """
    if not address.isascii():
        host = _cut(_LEFT_OUT.sub("", address).partition("//")[2])[0]
        if len(host) > _LONGEST_HOST and not host.isascii():
            raise ValueError("The host is too long.")
    return urlsplit(address)


def is_web_address(text: str) -> bool:
    """Whether a text from outside is an http or https address with a host."""
    try:
        parts = split_address(text)
        parts.port  # noqa: B018 - reading the property raises ValueError for a bad port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def without_secrets(address: str) -> str:
    """Remove user, password and secret query parameters from an address.

    Everything else is kept as it is written. A text that is no address is returned unchanged. It is for
    addresses in rows, whose queries may name the file; `without_query` is for configured addresses.
    """
    start = re.search("//+", address)
    if not start:
        return address
    host, behind = _without_user(address[start.end() :])
    path, question, query = behind.partition("?")
    if question:
        query, hash_mark, fragment = query.partition("#")
        parameters = [part for part in query.split("&") if not _is_secret(part)]
        behind = path + ("?" if parameters else "") + "&".join(parameters) + hash_mark + fragment
    return address[: start.end()] + host + behind


def without_query(address: str) -> str:
    """Remove user, password, query and fragment from an address.

    A query may be a signature. A text that is no address is returned unchanged.
    """
    if "://" not in address:
        return address
    return re.split("[?#]", without_secrets(address), maxsplit=1)[0]


def cut_address(text: str) -> str:
    """Remove user, password, parameters and fragment from an address that may have mistakes.

    An example is an address without its scheme. A text without "/", "?" and ":" is returned unchanged.
    """
    if not re.search("[/?:]", text):
        return text
    rest = _BEGINNING.sub("", text)
    address = "".join(_without_user(rest))
    return text.removesuffix(rest) + _BEHIND_PATH.split(address, maxsplit=1)[0]


def cut_secrets(text: str) -> str:
    """Remove the secrets from all addresses in a text."""
    # Most texts have no address, and searching for its beginning is slow.
    if "://" not in text:
        return text
    return _ADDRESS.sub(lambda match: without_secrets(match[0]), text)


def credentials(address: str) -> Credentials | None:
    """Return the user and the password in an address, or None if it has neither."""
    parts = urlsplit(address)
    if parts.username is None and parts.password is None:
        return None
    return Credentials(unquote(parts.username or ""), unquote(parts.password or ""))


def _without_user(rest: str) -> tuple[str, str]:
    """Split an address after its scheme into host with port, and the rest, without user and password.

    The rest begins with "/", "?" or "#", or is empty.
    """
    place, behind = _cut(rest)
    if "@" in behind and not _HOST.fullmatch(place.rpartition("@")[2]):
        # No host with a port: a password has a "/", "?" or "#" that is not percent-encoded.
        place, behind = _cut(rest.rpartition("@")[2])
    return place.rpartition("@")[2], behind


def _cut(rest: str) -> tuple[str, str]:
    place = re.split("[/?#]", rest, maxsplit=1)[0]
    return place, rest[len(place) :]


def _is_secret(parameter: str) -> bool:
    return _SECRET.fullmatch(unquote(parameter.partition("=")[0])) is not None
