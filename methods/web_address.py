"""Addresses on the web, and the secrets in them: a user's password, a token in the query."""

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_SECRET = re.compile(
    r".*(token|secret|password|passwd|signature|credential|apikey|accesskeyid|authorization)s?"
    r"|(.*[-_.])?(key|auth|pass|pwd|sig|jwt|hmac|sid|session|sessionid)",
    re.IGNORECASE,
)
"""Names of parameters whose values are secrets, as servers and storages call them."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://[^\s\"'<>]+", re.IGNORECASE)


class Credentials(NamedTuple):
    """A user and a password, as they are sent."""

    user: str
    password: str


def without_secrets(address: str) -> str:
    """An address without user, password, and parameters whose names say that they are secrets.

    All else stays as it is written, also where it is not an address.
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


def cut_secrets(text: str) -> str:
    """A text with all addresses in it `without_secrets`."""
    # Most texts have none, and looking for where one may begin is slow.
    if "://" not in text:
        return text
    return _ADDRESS.sub(lambda match: without_secrets(match[0]), text)


def credentials(address: str) -> Credentials | None:
    """The user and the password in an address, None where it has none."""
    parts = urlsplit(address)
    if parts.username is None and parts.password is None:
        return None
    return Credentials(unquote(parts.username or ""), unquote(parts.password or ""))


def _cut(rest: str) -> tuple[str, str, str]:
    """What stands before the path or the query, the character that begins these, and what follows.

    An address with a question mark keeps it with what follows.
    """
    match = re.search("[/?#]", rest)
    if match is None:
        return rest, "", ""
    if match[0] == "/":
        return rest[: match.start()], "/", rest[match.end() :]
    return rest[: match.start()], "", rest[match.start() :]


def _is_secret(parameter: str) -> bool:
    return _SECRET.fullmatch(unquote(parameter.partition("=")[0])) is not None
