"""Protection against cross-site request forgery: whether one of the app's own pages sent a request.

The token and the request's origin (`resources/web/request_guard.py`) must both be right, since
attackers have bypassed either.
"""

import hashlib
import hmac
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

from resources.web.request_guard import SAFE_METHODS

CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"

MAX_FORM = 64 * 1024
"""The most bytes of a form; longer requests are JSON, with the token in the header."""

JSON_TYPE = "application/json"
_FORM_TYPE = "application/x-www-form-urlencoded"
_NOT_OUR_PAGE = (
    "This request did not come from a page of this site, or you were signed out meanwhile: "
    "open the page again and repeat what you did."
)
_TOO_LONG = "This form is too long."


async def checked_body(request: Request, token: str) -> Receive:
    """Check that a page of the app sent a request, and return its body for the app to read.

    Args:
        request: The request.
        token: The token of the session cookie.

    Returns:
        The body.

    Raises:
        HTTPException: Status 403, or 413 for a form that is too long.
    """
    if request.method in SAFE_METHODS:
        return request.receive
    receive, sent = request.receive, request.headers.get(CSRF_HEADER)
    if content_type(request) != JSON_TYPE:
        # Whatever its type and token: Starlette writes the files of a form to disk without a limit.
        body = await _read_form(request)
        if sent is None and content_type(request) == _FORM_TYPE:
            sent = parse_qs(body.decode("latin-1")).get(CSRF_FIELD, [""])[0]
        receive = _replayed(body, receive)
    if not hmac.compare_digest((sent or "").encode(), csrf_token_of(token).encode()):
        raise HTTPException(403, _NOT_OUR_PAGE)
    return receive


async def _read_form(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM:
            raise HTTPException(413, _TOO_LONG)
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that first gives the body that was read already, then what follows it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


def csrf_token_of(token: str) -> str:
    """The CSRF token that belongs to a cookie's token.

    It is derived and not stored, and the cookie's token cannot be computed from it.
    """
    return hmac.new(token.encode(errors="surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def content_type(request: Request) -> str:
    """The content type of the body, without parameters."""
    return request.headers.get("content-type", "").split(";")[0].strip().lower()
