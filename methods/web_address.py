"""URLs: removes secrets, such as a password or a token in the query, and reads credentials."""

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_SECRET = re.compile(
    r".*(token|secret|password|passwd|signature|credential|apikey|accesskeyid|authorization)s?"
    r"|(.*[-_.])?(key|auth|pass|pwd|sig|jwt|hmac|sid|session|sessionid)",
    re.IGNORECASE,
)
"""Usual names of query parameters whose values are secrets."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://[^\s\"'<>]+", re.IGNORECASE)

_USER = re.compile(r"^(\s*[a-z][a-z0-9+.-]*:/+)?[^/]*@", re.IGNORECASE)
"""User and password, after a scheme with any number of slashes."""
_BEHIND_PATH = re.compile("[?#;]|%3f", re.IGNORECASE)


class Credentials(NamedTuple):
    """A user name and a password, percent-decoded."""

    user: str
    password: str


def without_secrets(address: str) -> str:
    """Remove user, password and secret query parameters from an address.

    Everything else is kept as it is written. A text that is no address is returned unchanged.
    """
    head, slashes, rest = address.partition("//")
    if not slashes:
        return address
    place, mark, behind = _cut(rest)
    host = place.rpartition("@")[2]
    path, question, query = behind.partition("?")
    if question:
        query, hash_mark, fragment = query.partition("#")
        parameters = [part for part in query.split("&") if not _is_secret(part)]
        behind = path + ("?" if parameters else "") + "&".join(parameters) + hash_mark + fragment
    return head + slashes + host + mark + behind


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
    return _USER.sub(r"\1", _BEHIND_PATH.split(text, maxsplit=1)[0])


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


def _cut(rest: str) -> tuple[str, str, str]:
    """Split an address after "//" into host part, "/" (or "" if no path follows), and the rest.

    The rest includes a leading "?" or "#".
    """
    match = re.search("[/?#]", rest)
    if match is None:
        return rest, "", ""
    if match[0] == "/":
        return rest[: match.start()], "/", rest[match.end() :]
    return rest[: match.start()], "", rest[match.start() :]


def _is_secret(parameter: str) -> bool:
    return _SECRET.fullmatch(unquote(parameter.partition("=")[0])) is not None
