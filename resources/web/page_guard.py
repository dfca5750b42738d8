"""Access control of the workspace's HTML pages, and their security headers (CSP).

Only browsers on this machine have access, unless `LOOM_UI` is set. `resources/publishing/server.py` and
`resources/calls_page` serve the pages; `request_guard.py` refuses requests of other origins.
"""

import os
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resources.web.ports import UI_VARIABLE
from resources.web.request_guard import POLICY_VIOLATION, refusal

THIS_MACHINE = ("127.0.0.1", "::1")
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    # A page may be regenerated at the same address.
    "cache-control": "no-cache",
}


def policy(*, scripts: str = "", forms: bool = False) -> str:
    """Make the content security policy of a self-contained page.

    The page runs in a sandbox with its own origin: even injected code can neither access the UI on the
    same server, nor load or send anything.

    Args:
        scripts: The hash of the script that may run; empty for none.
        forms: Whether forms may be sent to the same server.
    """
    sources = f"script-src '{scripts}'; " if scripts else ""
    action = "'self'" if forms else "'none'"
    may = (" allow-scripts" if scripts else "") + (" allow-forms" if forms else "")
    return (
        f"default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; {sources}"
        f"base-uri 'none'; form-action {action}; frame-ancestors 'none'; "
        f"sandbox allow-popups allow-popups-to-escape-sandbox{may}"
    )


def policy_of_files() -> str:
    """Make the content security policy of a page that loads scripts, styles and images from files.

    The page has the UI's origin, whose browser storage keeps the reader's notes. It may only load files
    from this server, and may not send anything, also not through a page of the UI that it opens:
    PageGuard separates it from those. (Browsers do so on HTTPS and on this machine, not on plain HTTP.)
    """
    return (
        "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
        # A service worker would answer with pages that have no policy.
        "worker-src 'none'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


class PageGuard:
    """ASGI middleware that serves pages to this machine only, or to everybody if `LOOM_UI` is set.

    It adds the security headers to each response.

    Args:
        app: The application with the pages.
        policy_of: Returns the content security policy for a request.
    """

    def __init__(self, app: ASGIApp, policy_of: Callable[[Scope], str]) -> None:
        self._app, self._policy_of = app, policy_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it. No page opens a websocket."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return
        policy_of_page = self._policy_of(scope)
        headers = {**HEADERS, "content-security-policy": policy_of_page}
        if "sandbox" not in policy_of_page:
            # A page in a sandbox has an origin of its own, and browsers refuse it with this header.
            headers["cross-origin-opener-policy"] = "same-origin"

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        reason = refusal(scope, UI_VARIABLE) or _refusal_of_reader(scope)
        answer = PlainTextResponse(reason, 403) if reason else self._app
        await answer(scope, receive, send_guarded)


def _refusal_of_reader(scope: Scope) -> str | None:
    client = scope.get("client")
    if os.environ.get(UI_VARIABLE) or (client is not None and client[0] in THIS_MACHINE):
        return None
    return (
        "This page is only shown on the machine that it is on. To show it to others, set "
        f"{UI_VARIABLE} to the address by which they reach the UI, such as "
        "https://loom.example.org, and start the UI again."
    )
