"""Whether a page of the app's own sent a request, or another site in the name of who is signed in.

What belongs here: the token that every form and script sends back, and what browsers say of where a
request comes from. Both must fit: either alone has been got around.
"""

import hashlib
import hmac
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
"""They change nothing, so that nobody gains by having them sent."""

CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"

MAX_FORM = 64 * 1024
"""Bytes of a form; what may be longer is sent as JSON, with the token in the header."""

_FORM_TYPE = "application/x-www-form-urlencoded"
_NOT_FROM_HERE = (
    "This was not sent from a page of this site, or you were signed out meanwhile: "
    "open the page again and repeat it."
)
_TOO_LONG = "This form is too long."


async def meant_body(request: Request, token: str) -> Receive:
    """What the app receives the body from, if one of its pages sent it; `token` is the cookie's.

    Raises HTTPException with status 403, or 413 for a form that is too long.
    """
    if request.method in SAFE_METHODS:
        return request.receive
    if not _is_from_here(request):
        raise HTTPException(403, _NOT_FROM_HERE)
    receive, sent = request.receive, request.headers.get(CSRF_HEADER)
    if sent is None and content_type(request) == _FORM_TYPE:
        body = await _read_form(request)
        sent = parse_qs(body.decode("latin-1")).get(CSRF_FIELD, [""])[0]
        receive = _again(body, receive)
    if not hmac.compare_digest((sent or "").encode(), csrf_token_of(token).encode()):
        raise HTTPException(403, _NOT_FROM_HERE)
    return receive


def _is_from_here(request: Request) -> bool:
    """Whether the browser says that a page of this very host sent it, or says nothing."""
    origin = request.headers.get("origin")
    if origin is not None:
        # Only the host: behind a proxy the app may not know that its scheme is https.
        return origin.partition("://")[2].lower() == request.headers.get("host", "").lower() != ""
    return request.headers.get("sec-fetch-site", "none") in ("same-origin", "none")


async def _read_form(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM:
            raise HTTPException(413, _TOO_LONG)
    return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read once more, then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def csrf_token_of(token: str) -> str:
    """The CSRF token that goes with a cookie's token.

    Nothing is stored for it, and who knows it does not know the cookie.
    """
    return hmac.new(token.encode(errors="surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def content_type(request: Request) -> str:
    """What the body says it is, without parameters."""
    return request.headers.get("content-type", "").split(";")[0].strip().lower()
