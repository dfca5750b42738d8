"""What every request to the review app goes through: who asks, whether they may, whether they meant it.

What belongs here: the session cookie, the guard of a page, the headers that bind a browser. What does
not: how it is known that a page of the app's own sent a form (`review/csrf.py`), accounts and their
rules (`resources/review/accounts.py`), and what pages look like.

An app is built so:

    app = Starlette(
        routes=[Route("/", queue)],  # @require("annotator") async def queue(request): ...
        middleware=[Middleware(Security, accounts=accounts, refuse=refuse)],
        exception_handlers={HTTPException: refuse},
    )

and signs people in with POST handlers that call `check_password` or `use_link`, then `sign_in`. Each
form has a hidden field `csrf_token` with `csrf_token(request)`; scripts send it in the header
`X-CSRF-Token`. A link is opened by GET, which shows whom it would sign in, and used by POST: programs
that look at links in messages would use it up.
"""

import functools
import inspect
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resources.review.accounts import ROLES, SESSION_LASTS, Account, Accounts
from review.csrf import SAFE_METHODS, content_type, csrf_token_of, meant_body

SESSION_COOKIE = "review_session"
VISITOR_COOKIE = "review_visitor"
"""A random token for who is not signed in yet, so that the sign-in form has a CSRF token, too."""

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}
CACHE = "no-store"
"""What a response says of itself that does not speak of caching."""

_VISIT = "review.visit"

_NOT_SIGNED_IN = "You are not signed in."
_ONLY_POST = "Signing in takes the button of the page."
_NOT_ALLOWED = {
    "annotator": "This page is for annotators.",
    "expert": "This page is for experts.",
    "admin": "This page is for administrators.",
}
_BROKEN = "Something went wrong here: what you did last may not have been saved."

Refuse = Callable[[Request, HTTPException], Response]
Endpoint = Callable[[Request], Any]


@dataclass
class Visit:
    """What is known of who sends a request; `token` is the cookie's that its CSRF token is of."""

    accounts: Accounts
    account: Account | None
    token: str
    new_visitor: bool


def current_account(request: HTTPConnection) -> Account | None:
    """Who is signed in, as the account was when the request came."""
    return _visit(request).account


def csrf_token(request: HTTPConnection) -> str:
    """The token that forms and scripts of this page send back; another session's is refused."""
    return csrf_token_of(_visit(request).token)


def require(role: str) -> Callable[[Endpoint], Callable[[Request], Awaitable[Response]]]:
    """Let only accounts of this role, or a higher one, reach the endpoint.

    Who is not signed in is sent to `/login?next=…`, if it is a page they asked for; else the answer is
    401, or 403 for a role too low. The endpoint's attribute `required_role` says what it requires.
    """
    if role not in ROLES:
        raise ValueError(f"{role!r} is no role.")

    def guard(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        @functools.wraps(endpoint)
        async def guarded(request: Request) -> Response:
            account = current_account(request)
            if account is None:
                if request.method in SAFE_METHODS and not _wants_json(request):
                    return RedirectResponse(f"/login?{urlencode({'next': _asked(request)})}", 303)
                raise HTTPException(401, _NOT_SIGNED_IN)
            if not account.may(role):
                raise HTTPException(403, _NOT_ALLOWED[role])
            if inspect.iscoroutinefunction(endpoint):
                return await endpoint(request)
            return await run_in_threadpool(endpoint, request)

        guarded.required_role = role  # type: ignore[attr-defined]
        return guarded

    return guard


async def check_password(request: Request, name: str, password: str) -> Account | None:
    """Whose name and password these are, or None, whatever is wrong. Raises TooManyAttempts."""
    _require_post(request)
    address = request.client.host if request.client else ""
    return await run_in_threadpool(_visit(request).accounts.check, name, password, address)


async def use_link(request: Request, token: str) -> Account | None:
    """Whom this link signs in; it is used up. None for one that is used, too old or unknown."""
    _require_post(request)
    return await run_in_threadpool(_visit(request).accounts.use_link, token)


async def sign_in(request: Request, response: Response, account: Account) -> None:
    """Begin a session of who has just shown who they are; the response brings its cookie.

    Its token is always new, and a session that the request had ends, so that nobody goes on with a
    token that somebody else chose. Raises AccountError if the account may not sign in any more.
    """
    visit = _visit(request)
    token = await run_in_threadpool(visit.accounts.begin_session, account.name)
    if visit.account is not None:
        await run_in_threadpool(visit.accounts.end_session, visit.token)
    _drop_cookie(request, response, VISITOR_COOKIE)
    _set_cookie(request, response, SESSION_COOKIE, token, int(SESSION_LASTS.total_seconds()))


async def sign_out(request: Request, response: Response) -> None:
    """End the session, here and in the browser."""
    visit = _visit(request)
    await run_in_threadpool(visit.accounts.end_session, visit.token)
    _drop_cookie(request, response, SESSION_COOKIE)


def local_path(asked: str | None) -> str:
    """The page to go to after signing in: `asked` if it is a path of this site, else `/`.

    Browsers take `//host`, `/\\host` and `/<tab>/host` for another site's address.
    """
    if asked and asked.startswith("/") and asked.isprintable() and "\\" not in asked:
        try:
            parts = urlsplit(asked)
        except ValueError:
            return "/"
        if not (parts.scheme or parts.netloc or asked.startswith("//")):
            return asked
    return "/"


def refuse(request: Request, error: HTTPException) -> Response:
    """A page of one sentence, or JSON {"error": sentence} for a script; both also for the app."""
    if _wants_json(request):
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)
    page = (
        f'<!doctype html><html lang="en"><title>Review</title><p>{escape(error.detail)}</p></html>'
    )
    return HTMLResponse(page, error.status_code, error.headers)


class Security:
    """ASGI middleware: knows who asks, refuses what other sites send, sets the headers.

    `refuse` answers what is refused before the app sees it. Every request but GET, HEAD and OPTIONS
    must bring its session's CSRF token: a new handler cannot forget to ask for it.
    """

    def __init__(self, app: ASGIApp, accounts: Accounts, refuse: Refuse = refuse):
        self._app = app
        self._accounts = accounts
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        scope[_VISIT] = visit = await run_in_threadpool(self._arrive, request)
        began = False

        async def send_bound(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                self._bind(request, visit, message)
            await send(message)

        try:
            receive = await meant_body(request, visit.token)
            await self._app(scope, receive, send_bound)
        except HTTPException as error:
            await self._refuse(request, error)(scope, receive, send_bound)
        except Exception:
            if not began:
                answer = self._refuse(request, HTTPException(500, _BROKEN))
                await answer(scope, receive, send_bound)
            raise  # for the server's log

    def _arrive(self, request: Request) -> Visit:
        token = request.cookies.get(_cookie_name(request, SESSION_COOKIE))
        account = self._accounts.session(token) if token else None
        if token and account:
            return Visit(self._accounts, account, token, new_visitor=False)
        visitor = request.cookies.get(_cookie_name(request, VISITOR_COOKIE))
        return Visit(self._accounts, None, visitor or secrets.token_urlsafe(32), not visitor)

    def _bind(self, request: Request, visit: Visit, message: Message) -> None:
        headers = MutableHeaders(scope=message)
        headers.update(HEADERS)
        headers.setdefault("cache-control", CACHE)
        if visit.new_visitor and headers.get("content-type", "").startswith("text/html"):
            cookie = Response()
            _set_cookie(request, cookie, VISITOR_COOKIE, visit.token, None)
            headers.append("set-cookie", cookie.headers["set-cookie"])


def _require_post(request: Request) -> None:
    """Neither GET nor HEAD, which come without a CSRF token and from whoever looks at a link."""
    if request.method in SAFE_METHODS:
        raise HTTPException(405, _ONLY_POST)


def _visit(request: HTTPConnection) -> Visit:
    return request.scope[_VISIT]


def _asked(request: Request) -> str:
    query = request.url.query
    return quote(request.scope["path"]) + (f"?{query}" if query else "")


def _wants_json(request: Request) -> bool:
    wanted = "application/json"
    return content_type(request) == wanted or wanted in request.headers.get("accept", "")


def _cookie_name(request: HTTPConnection, name: str) -> str:
    # Browsers take a cookie of this prefix from this very host alone, and over https.
    return f"__Host-{name}" if request.url.scheme == "https" else name


def _set_cookie(
    request: HTTPConnection, response: Response, name: str, token: str, max_age: int | None
) -> None:
    response.set_cookie(
        _cookie_name(request, name),
        token,
        max_age=max_age,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )


def _drop_cookie(request: HTTPConnection, response: Response, name: str) -> None:
    response.delete_cookie(
        _cookie_name(request, name),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
