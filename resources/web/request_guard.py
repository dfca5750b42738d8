"""Protection of the web servers against cross-site requests (CSRF) and DNS rebinding.

Any page in a user's browser can send requests to a server on loopback or behind a sign-in proxy. The
guard refuses requests for another host name (DNS rebinding) and requests from pages of other origins.
It accepts requests of programs, which send no `Origin`, and requests for an IP address, which DNS
rebinding cannot use.
"""

import os
import re
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resources.web.ports import addresses_in

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
"""HTTP methods that change nothing."""
HEADERS = {"x-frame-options": "SAMEORIGIN", "cross-origin-resource-policy": "same-origin"}
"""Prevents other sites from embedding the pages. This also works if browsers send no `Sec-Fetch-Site`,
as with plain HTTP and a host name."""
POLICY_VIOLATION = 1008
"""The close code of a refused websocket."""
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d+)?")
_FOREIGN_PAGE = (
    "This request was refused, as it came from a page of another site. Open this site's own page and "
    "repeat the action there."
)


class RequestGuard:
    """ASGI middleware that refuses requests by `refusal`: status 403, or a closed websocket.

    All other responses get headers that prevent other sites from embedding them.

    Args:
        app: The application that answers accepted requests.
        variable: The environment variable with the addresses of the server for its users.
    """

    def __init__(self, app: ASGIApp, variable: str) -> None:
        self._app, self._variable = app, variable

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        reason = refusal(scope, self._variable)
        if reason is None:
            await self._app(scope, receive, send_with_headers)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            await PlainTextResponse(reason, 403)(scope, receive, send)


_ONCE = ("host", "origin", "sec-fetch-site")
"""Headers about a request's origin. If one is repeated, a proxy may have checked the other value."""


def refusal(scope: Scope, variable: str) -> str | None:
    """Find the reason to refuse a request.

    Args:
        scope: The ASGI scope of the request or websocket.
        variable: The environment variable with the addresses of the server for its users.

    Returns:
        One sentence for the sender; None for an accepted request.
    """
    if scope["type"] not in ("http", "websocket"):
        return None
    headers, addresses = Headers(scope=scope), addresses_in(os.environ.get(variable))
    if repeated := [name for name in _ONCE if len(headers.getlist(name)) > 1]:
        return f"The request has several headers {repeated[0]}: send one."
    host = headers.get("host", "").lower()
    own = {_after_scheme(address) for address in addresses}
    if not _is_own_name(host, {_name(address) for address in own}):
        listed = ",".join([*addresses, f"http://{host}"])
        return (
            f"This server does not answer as {host!r}. If this is one of its names, set "
            f"{variable}={listed} and start the server again."
        )
    return _FOREIGN_PAGE if _is_of_foreign_page(scope, headers, {host, *own} - {""}) else None


def is_of_page(scope: Scope) -> bool:
    """Whether a page in a browser sent the request, for servers that only programs call."""
    headers = Headers(scope=scope)
    return "origin" in headers or headers.get("sec-fetch-site", "none") != "none"


def _is_own_name(host: str, names: set[str]) -> bool:
    if not host:
        return True  # Programs with HTTP/1.0, such as health probes; browsers always send a host.
    name = _name(host)
    if name and name in {"localhost", *names}:
        return True
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _is_of_foreign_page(scope: Scope, headers: Headers, own: set[str]) -> bool:
    origin = headers.get("origin")
    # The scheme is not compared: behind a proxy the server may not know that it is https.
    if origin is not None and _after_scheme(origin) not in own:
        return True
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return False
    # A link on another site may open a page, but neither frame it nor send a form.
    return not (
        scope["type"] == "http"
        and scope["method"] in SAFE_METHODS
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _after_scheme(address: str) -> str:
    """Host and port of an address or origin: "https://loom.example.org/x" -> "loom.example.org"."""
    return address.lower().rpartition("://")[2].partition("/")[0]


def _name(host: str) -> str:
    """Return the host without its port; empty for an invalid host."""
    match = _HOST.fullmatch(host)
    return match["name"] if match else ""
