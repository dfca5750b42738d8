"""Who may read the home's pages in a browser, and what a page may do there.

What belongs here: the check that a request is this machine's own, or for the address that a shared
installation names, and the headers of an answer. What is
answered is `server.py` and `resources/calls_page`.
"""

import os
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resources.ports import UI_VARIABLE

THIS_MACHINE = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    # A page is made anew under its name.
    "cache-control": "no-cache",
}


def policy(*, scripts: str = "", forms: bool = False) -> str:
    """The content security policy of a page that has everything in it; `scripts` may run.

    In a sandbox a page has an origin of its own: whatever it was made to run, it could neither reach
    the UI that it is served beside nor load or send anything. Forms may ask the same server.
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
    """The content security policy of a page whose scripts, styles and pictures are files beside it.

    It has the UI's origin, which keeps its notes, and may run and load files of this server alone, and
    send nothing.
    """
    return (
        "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts "
        "allow-same-origin allow-downloads allow-popups allow-popups-to-escape-sandbox"
    )


class Guard:
    """Answers this machine alone, or who asks for `LOOM_UI`, and says with each answer what a page may
    do.

    `policy_of` gives the policy of a request's path; `refusal` is the sentence for anybody else.
    """

    def __init__(self, app: ASGIApp, policy_of: Callable[[Scope], str], refusal: str) -> None:
        self._app, self._policy_of, self._refusal = app, policy_of, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        headers = {**HEADERS, "content-security-policy": self._policy_of(scope)}

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        refused = PlainTextResponse(self._refusal, 403)
        await (self._app if _may_read(scope) else refused)(scope, receive, send_guarded)


def _may_read(scope: Scope) -> bool:
    """Whether the request asks for the server by a name of its own, and is from this machine where no
    address for other users is set.

    A web site could give its own name this machine's address, and read what its name is answered.
    """
    asked, client = Request(scope).url.hostname, scope.get("client")
    if shown := os.environ.get(UI_VARIABLE):
        return asked == urlsplit(shown).hostname
    return asked in THIS_MACHINE and client is not None and client[0] in THIS_MACHINE
