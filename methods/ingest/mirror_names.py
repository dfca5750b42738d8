"""File names of images in a local mirror. A mirror may store the image of an address under two names:

<host>/<path>    images.example.org/wikipedia/en/1/11/Landmark.png, with ?<query> if there is a query
<file name>      Landmark.png, if no other address ends in it
"""

from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import unquote

from methods.web_address import split_address

SHARED_NAME = "shared_name"
"""Reason to reject an image: the mirror has it only under a file name that several addresses share."""


def file_name(address: str) -> str | None:
    """Return the last part of an address's path, percent-decoded; None if it is no valid file name."""
    try:
        return _decoded(split_address(address).path.rpartition("/")[2])
    except ValueError:
        return None


def path_in_mirror(address: str) -> str | None:
    """Return host, path and query of an address as a relative path, as `wget --recursive` names files.

    Host and path are percent-decoded. Addresses that differ only in scheme, password or fragment have
    the same path. Returns None if the path could lead out of the mirror's folder.
    """
    try:
        parts = split_address(address)
        host = parts.netloc.rpartition("@")[2].lower()
        names = [_decoded(part) for part in (host, *parts.path.removeprefix("/").split("/"))]
    except ValueError:
        return None
    if None in names or "\\" in parts.query or "\0" in parts.query:
        return None
    query = "?" + parts.query.replace("/", "%2F") if parts.query else ""
    return "/".join(map(str, names)) + query


def shared_names(addresses: Iterable[str]) -> frozenset[str]:
    """Find the file names in which several addresses end that differ in host, path or query."""
    paths = defaultdict(set)
    for address in addresses:
        if name := file_name(address):
            paths[name].add(path_in_mirror(address) or address)
    return frozenset(name for name, of_name in paths.items() if len(of_name) > 1)


def _decoded(part: str) -> str | None:
    """Decode a part of a path; None if it is no valid name. Raises ValueError if it is not UTF-8."""
    name = unquote(part, errors="strict")
    return None if name in ("", ".", "..") or any(c in "/\\\0" for c in name) else name
