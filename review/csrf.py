"""Protection against cross-site request forgery (CSRF): only the app's own pages may send requests.

Both the token and the request's origin (`resources/web/request_guard.py`) are checked, since attackers
have bypassed each of these checks elsewhere.
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
"""Maximum size of a form in bytes. Longer requests are JSON, with the token in the header."""

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

    Raises:
        HTTPException: Status 403, or 413 for a form that is too long.
    """
    if request.method in SAFE_METHODS:
        return request.receive
    receive, sent = request.receive, request.headers.get(CSRF_HEADER)
    if content_type(request) != JSON_TYPE:
        # For every type and token, since Starlette writes files of a form to disk without a limit.
        body = await read_body(request, MAX_FORM, _TOO_LONG)
        if sent is None and content_type(request) == _FORM_TYPE:
            sent = parse_qs(body.decode("latin-1")).get(CSRF_FIELD, [""])[0]
        receive = _replayed(body, receive)
    if not hmac.compare_digest((sent or "").encode(), csrf_token_of(token).encode()):
        raise HTTPException(403, _NOT_OUR_PAGE)
    return receive


async def read_body(request: Request, most: int, message: str) -> bytes:
    """Read the body. Raises HTTPException 413 with the message if it has more than `most` bytes."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise HTTPException(413, message)
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Make a `receive` that returns the body, which was read already, and then later messages."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


def csrf_token_of(token: str) -> str:
    """Derive the CSRF token from the token of a cookie.

    It is not stored, and the cookie's token cannot be computed from it.
    """
    return hmac.new(token.encode(errors="surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def content_type(request: Request) -> str:
    """Return the content type of the body, without parameters."""
    return request.headers.get("content-type", "").split(";")[0].strip().lower()
