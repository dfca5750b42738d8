"""Read the error of a model server from a response body.

Servers have many formats for the same error. `error_kinds.py` classifies errors, and `error_advice.py`
names the setting of models.yaml that would prevent one.
"""

import re
from typing import NamedTuple

from methods.json_text import from_json, to_json
from methods.untrusted_html import parse_html

_READ = 4000
"""The first characters of the message and of the details, which patterns search."""
_NESTED = ("error", "errors", "detail", "err", "fault", "base_resp")
"""Fields of a body that contain an error."""
_MESSAGE = (
    *("message", "msg", "detail", "error", "error_message", "error_msg", "errorMessage", "Message"),
    *("status_msg", "faultstring"),
    *("error_description", "description", "reason", "title"),
)
"""Fields with the message of an error, in order of preference."""
_WORDS_ALONE = ("message", "msg", "error_msg", "error_message", "status_msg")
"""Fields that mean an error if a reply with status 200 has no choices."""
_ECHO = frozenset(
    ("input", "flagged_input", "messages", "prompt", "request", "body", "url", "user_id", "ctx")
)
"""Fields in which servers repeat the request. They are ignored, as the text of a request
says nothing about the error."""
_CODE = ("code", "status_code", "error_code", "errorCode")
"""Fields with the code of an error."""
_GENERIC = re.compile(r"provider returned error|upstream error|internal error", re.IGNORECASE)
_HTML = re.compile(r"<(!doctype|html|head|body|title|h1|p|center)\b", re.IGNORECASE)
_LONGEST = 20_000
"""The first characters that are read of a text body, and that are kept of each field of an error."""


class ServerError(NamedTuple):
    """One error of a server. All fields are untrusted text, and empty if the body lacks them.

    Attributes:
        status: The HTTP status; 0 for an error inside a reply with status 200 that names no status.
        message: The server's message.
        details: The body as JSON, without the fields in which servers repeat the request.
    """

    status: int
    code: str = ""
    type: str = ""
    param: str = ""
    message: str = ""
    details: str = ""

    @property
    def text(self) -> str:
        """The text that patterns search: message, code, type and details, with names split into
        words.
        """
        text = "\n".join((self.message[:_READ], self.code, self.type, self.details[:_READ]))
        return re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", text)


def read_error(status: int, body: object) -> ServerError:
    """Read an error from a response's body.

    Args:
        status: The HTTP status; for an error inside a reply with status 200 see `error_in_reply`.
        body: The decoded JSON, or a text if the body is not JSON. Known formats: OpenAI's
            `error` object with or without the outer object, Google's list, FastAPI's
            `detail`, `msg`, plain text, HTML.

    Returns:
        The error; fields that the body lacks are empty.
    """
    while isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, str):
        return ServerError(status, message=_plain_text(body))
    if not isinstance(body, dict):
        return ServerError(status, message=_json(body) if body else "")
    nested = next((body[name] for name in _NESTED if body.get(name)), None)
    if isinstance(nested, list) and len(nested) == 1 and isinstance(nested[0], dict):
        nested = nested[0]
    inner = nested if isinstance(nested, dict) else {}
    fields = {**_scalars(body), **_scalars(inner)}
    message = _message(nested) or _message(body)
    upstream = _upstream(inner) or _upstream(body)
    if upstream and (not message or _GENERIC.search(message)):
        message = ": ".join(filter(None, (message, upstream)))
    return ServerError(
        status,
        code=next((fields[name] for name in _CODE if fields.get(name)), ""),
        type=fields.get("type") or fields.get("status") or "",
        param=fields.get("param", ""),
        message=message,
        details=_json(_without_echo(body)),
    )


def error_in_reply(body: object) -> ServerError | None:
    """Read the error inside a reply with status 200.

    Returns:
        The error, with its numeric code as the status; 0 if it has none. None if the reply has no
        error.
    """
    if not isinstance(body, dict):
        return None
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    choice = first if isinstance(first, dict) else {}
    message = choice.get("message")
    has_answer = isinstance(message, dict) and message.get("content")
    has_error = not has_answer and any(_message(body.get(name)) for name in _NESTED)
    has_words = choices is None and any(_message(body.get(name)) for name in _WORDS_ALONE)
    if not (choice.get("error") or has_error or has_words):
        return None
    holder = choice if choice.get("error") else body
    error = read_error(0, holder)
    numbers = (error.code, str(holder.get("status", "")), str(holder.get("status_code", "")))
    statuses = [int(number) for number in numbers if re.fullmatch(r"[45]\d\d", number)]
    return error._replace(status=statuses[0] if statuses else 0)


def _plain_text(text: str) -> str:
    """Return the text of a body; for an HTML page its visible text."""
    text = text[:_LONGEST]
    if not _HTML.search(text):
        return text.strip()
    page = parse_html(text, _LONGEST, is_fragment=False)
    page.strip_tags(["script", "style"])
    nodes = page.root.traverse(include_text=True) if page.root else ()
    texts = (node.text(deep=False).strip() for node in nodes if node.tag == "-text")
    return " - ".join(dict.fromkeys(filter(None, texts)))


def _scalars(fields: dict[str, object]) -> dict[str, str]:
    return {
        name: str(value)[:_LONGEST]
        for name, value in fields.items()
        if isinstance(value, (str, int)) and not isinstance(value, bool)
    }


def _message(value: object) -> str:
    """Find the message of an error in a text, in the usual fields of a dictionary, or in a list."""
    # Parsing HTML takes time even for short texts, and a body can have any number of them.
    return _plain_text(_raw_message(value))


def _raw_message(value: object) -> str:
    if isinstance(value, str):
        return value[:_LONGEST].strip()
    if isinstance(value, list):
        return "; ".join(filter(None, map(_raw_message, value[:5])))
    if not isinstance(value, dict):
        return ""
    message = next(
        (words for name in _MESSAGE if name in value and (words := _raw_message(value[name]))), ""
    )
    place = value.get("loc")
    if isinstance(place, list) and message:
        path = ".".join(str(part) for part in place if part != "body")
        return f"{path}: {message}" if path else message
    return message


def _upstream(fields: dict[str, object]) -> str:
    """Find the message of the server behind a router, which routers pass on in `metadata.raw`."""
    metadata = fields.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if not isinstance(raw, str):
        return _message(raw)
    try:
        decoded = from_json(raw)
    except ValueError:
        return _plain_text(raw)
    return read_error(0, decoded).message


def _without_echo(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_echo(part) for name, part in value.items() if name not in _ECHO}
    if isinstance(value, list):
        return [_without_echo(part) for part in value[:20]]
    return None if isinstance(value, str) and value.startswith("http") else value


def _json(value: object) -> str:
    try:
        return "" if value is None else to_json(value)[:_LONGEST]
    except ValueError:
        return ""
