"""Looking for a text in a reply and in its request, inside SQLite.

What belongs here: the function `holds` of a connection. SQLite cannot unpack a request, and knows
upper and lower case of ASCII only.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping

from methods.json_text import from_json

NAME = "holds"
"""`holds(text, reply, reasoning, detail, request)`: 1 where one of them has the text, else 0."""


def add_text_search(connection: sqlite3.Connection) -> None:
    """Give the connection the function; upper and lower case are one."""
    connection.create_function(NAME, 5, _holds, deterministic=True)


def texts_of(request: Mapping[str, object]) -> Iterator[str]:
    """The texts of a canonical request's messages; what has another form has none."""
    messages = request.get("messages")
    for message in messages if isinstance(messages, list) else ():
        parts = message.get("parts") if isinstance(message, dict) else None
        yield from (part for part in parts or () if isinstance(part, str))


def _holds(text: str, reply: str, reasoning: str | None, detail: str, packed: bytes | None) -> bool:
    wanted = text.casefold()
    if any(wanted in (each or "").casefold() for each in (reply, reasoning, detail)):
        return True
    return packed is not None and _in_request(text, packed)


def _in_request(text: str, packed: bytes) -> bool:
    try:
        request = zlib.decompress(packed).decode()
        # As JSON has the text: most requests are done with here, unparsed.
        if json.dumps(text, ensure_ascii=False)[1:-1].casefold() not in request.casefold():
            return False
        return any(text.casefold() in each.casefold() for each in texts_of(from_json(request)))
    except (zlib.error, ValueError, AttributeError):
        return False
