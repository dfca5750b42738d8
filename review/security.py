"""Authentication and authorization of every request to the review app.

`review/app.py` uses the middleware `Security`, and each endpoint `require`. POST handlers sign people
in: they call `check_password` or `use_link`, then `sign_in`. Each form has a hidden field `csrf_token`
with `csrf_token(request)`; scripts send it in the header `X-CSRF-Token`. GET on a sign-in link only
shows the account, since mail programs open every link in a message; POST uses the link up.
"""

import functools
import inspect
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlencode

from anyio import CapacityLimiter, Semaphore, WouldBlock, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from methods.unicode_forms import in_form
from methods.web_address import split_address
from resources.review.accounts import ROLES, SESSION_LASTS, Account, Accounts
from resources.web.request_guard import SAFE_METHODS
from review.csrf import JSON_TYPE, checked_body, content_type, csrf_token_of
from review.proxy import SignInHeader

SESSION_COOKIE = "review_session"
VISITOR_COOKIE = "review_visitor"
"""A random token of a browser that is not signed in, for the CSRF token of the sign-in form."""

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}
CACHE = "no-store"
"""The default `cache-control` of responses."""

_SENDER = "review.sender"

NOT_SIGNED_IN = "You are not signed in."
_ONLY_POST = "Sign in with the button of the page: this address takes POST only."
_NOT_ALLOWED = {
    "annotator": "This page is for annotators.",
    "expert": "This page is for experts.",
    "admin": "This page is for administrators.",
}
_BROKEN = "The server failed: what you did last may not have been saved."

_BUSY = "Too many people are signing in: try again in a few seconds."
_AT_ONCE = 2
_HASHING = CapacityLimiter(_AT_ONCE)
"""Hashing a password takes 64 MB and all cores: two at a time, so that other requests are served."""
MOST_WAITING = 20
"""Maximum number of sign-ins by password that wait for hashing; further ones are refused."""
_PLACES = Semaphore(_AT_ONCE + MOST_WAITING)

_UNKNOWN = "There is no account {!r} that may sign in: ask an administrator to add it."

Refuse = Callable[[Request, HTTPException], Response]
Endpoint = Callable[[Request], Any]


@dataclass
class Sender:
    """The sender of a request. The CSRF token is derived from `token`, the token of the cookie."""

    accounts: Accounts
    account: Account | None
    token: str
    new_visitor: bool
    new_session: bool = False
    """Whether a proxy has just signed the account in."""
    unknown: str | None = None
    """The name that a proxy sent, if no account with this name may sign in."""


def current_account(request: HTTPConnection) -> Account | None:
    """Return the signed-in account at the time of the request; None if nobody is signed in."""
    return _sender(request).account


def signed_in(request: HTTPConnection) -> Account:
    """Return the account of a request that `require` has let through."""
    return cast(Account, current_account(request))


def csrf_token(request: HTTPConnection) -> str:
    """Return the CSRF token for forms and scripts of a page; tokens of other sessions are refused."""
    return csrf_token_of(_sender(request).token)


def require(role: str) -> Callable[[Endpoint], Callable[[Request], Awaitable[Response]]]:
    """Let only accounts with the rights of `role` reach the endpoint.

    Without a session, an HTML page redirects to `/login?next=…`, and other requests get status 401. A
    role without the rights gets status 403.
    """
    if role not in ROLES:
        raise ValueError(f"A role is one of {', '.join(ROLES)}: not {role!r}.")

    def guard(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        @functools.wraps(endpoint)
        async def guarded(request: Request) -> Response:
            account = current_account(request)
            if account is None:
                if request.method in SAFE_METHODS and not wants_json(request):
                    return RedirectResponse(
                        f"/login?{urlencode({'next': requested_path(request)})}", 303
                    )
                raise HTTPException(401, NOT_SIGNED_IN)
            if not account.may(role):
                raise HTTPException(403, _NOT_ALLOWED[role])
            if inspect.iscoroutinefunction(endpoint):
                return await endpoint(request)
            return await run_in_threadpool(endpoint, request)

        return guarded

    return guard


async def account_now(request: Request) -> Account | None:
    """Return the signed-in account; for a request that changes something, look the session up again.

    The body of such a request may have arrived long after its headers, by which the session was found.
    So this follows the body: here that of a form, and in the endpoints that read JSON theirs.
    """
    sender = _sender(request)
    if sender.account is not None and request.method not in SAFE_METHODS:
        sender.account = await run_in_threadpool(sender.accounts.session, sender.token)
    return sender.account


async def check_password(request: Request, name: str, password: str) -> Account | None:
    """Check a name and a password.

    Args:
        request: The request.
        name: The name.
        password: The password.

    Returns:
        The account; None if name or password are wrong.

    Raises:
        TooManyAttempts: There were too many attempts.
        HTTPException: Status 503 if too many sign-ins wait already.
    """
    _require_post(request)
    address = request.client.host if request.client else ""
    check = _sender(request).accounts.check
    try:
        _PLACES.acquire_nowait()
    except WouldBlock:
        raise HTTPException(503, _BUSY, {"retry-after": "5"}) from None
    try:
        return await to_thread.run_sync(check, name, password, address, limiter=_HASHING)
    finally:
        _PLACES.release()


async def use_link(request: Request, token: str) -> Account | None:
    """Use a sign-in link, which works once. None for a used, expired or unknown link."""
    _require_post(request)
    return await run_in_threadpool(_sender(request).accounts.use_link, token)


async def sign_in(request: Request, response: Response, account: Account) -> None:
    """Begin a session of an account, and set its cookie.

    The token is always new, and an earlier session of the browser ends. This prevents session fixation.

    Args:
        request: The request.
        response: The response that sets the cookie.
        account: The account.

    Raises:
        AccountError: The account may not sign in any more.
    """
    sender = _sender(request)
    token = await run_in_threadpool(sender.accounts.begin_session, account.name)
    if sender.account is not None:
        await run_in_threadpool(sender.accounts.end_session, sender.token)
    _drop_cookie(request, response, VISITOR_COOKIE)
    _set_cookie(request, response, SESSION_COOKIE, token, int(SESSION_LASTS.total_seconds()))


async def sign_out(request: Request, response: Response) -> None:
    """End the session, and delete its cookie in the response."""
    sender = _sender(request)
    await run_in_threadpool(sender.accounts.end_session, sender.token)
    _drop_cookie(request, response, SESSION_COOKIE)


def local_path(path: str | None) -> str:
    """Return the page to show after signing in: `path` if it is a path of this site, else `/`.

    Browsers read `//host`, `/\\host` and `/<tab>/host` as addresses of another site.
    """
    if path and path.startswith("/") and path.isprintable() and "\\" not in path:
        try:
            parts = split_address(path)
        except ValueError:
            return "/"
        if not (parts.scheme or parts.netloc or path.startswith("//")):
            return path
    return "/"


def wants_json(request: Request) -> bool:
    """Whether a script sent the request, which reads the response as JSON."""
    wanted = "application/json"
    return content_type(request) == wanted or wanted in request.headers.get("accept", "")


class Security:
    """ASGI middleware: identifies the sender, refuses cross-site requests, sets the security headers.

    `refuse` makes the response to a request that is not passed to the app. All requests except GET,
    HEAD and OPTIONS need their session's CSRF token; no handler has to check it.
    """

    def __init__(
        self,
        app: ASGIApp,
        accounts: Accounts,
        refuse: Refuse,
        proxy: SignInHeader | None = None,
    ):
        self._app = app
        self._accounts = accounts
        self._refuse = refuse
        self._proxy = proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the app, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        scope[_SENDER] = sender = await run_in_threadpool(self._sender_of, request)
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._set_headers(request, sender, message)
            await send(message)

        try:
            if sender.unknown is not None:
                raise HTTPException(403, _UNKNOWN.format(sender.unknown[:80]))
            receive = await checked_body(request, sender.token)
            if content_type(request) != JSON_TYPE:
                await account_now(request)
            await self._app(scope, receive, send_with_headers)
        except HTTPException as error:
            await self._refuse(request, error)(scope, receive, send_with_headers)
        except ClientDisconnect:
            pass  # The client is gone before its request was complete.
        except Exception:
            if not started:
                answer = self._refuse(request, HTTPException(500, _BROKEN))
                await answer(scope, receive, send_with_headers)
            raise  # for the server's log

    def _sender_of(self, request: Request) -> Sender:
        token = cookie_of(request, _cookie_name(request, SESSION_COOKIE))
        account = self._accounts.session(token) if token else None
        named = self._proxy.name_in(request) if self._proxy else None
        if named is not None and (account is None or account != self._account_named(named)):
            return self._signed_in_by_proxy(request, named, token if account else None)
        if token and account:
            return Sender(self._accounts, account, token, new_visitor=False)
        visitor = cookie_of(request, _cookie_name(request, VISITOR_COOKIE))
        return Sender(self._accounts, None, visitor or secrets.token_urlsafe(32), not visitor)

    def _signed_in_by_proxy(self, request: Request, name: str, before: str | None) -> Sender:
        """Begin a session for the name; end the session `before`, which belongs to somebody else."""
        account = self._account_named(name)
        visitor = secrets.token_urlsafe(32)
        if account is None or account.disabled:
            return Sender(self._accounts, None, visitor, new_visitor=False, unknown=name)
        if request.method not in SAFE_METHODS or "text/html" not in request.headers.get(
            "accept", ""
        ):
            # Only HTML pages begin a session: later requests for scripts and images send its cookie.
            return Sender(self._accounts, None, visitor, new_visitor=False)
        if before is not None:
            self._accounts.end_session(before)
        token = self._accounts.begin_session(account.name)
        return Sender(self._accounts, account, token, new_visitor=False, new_session=True)

    def _account_named(self, name: str) -> Account | None:
        """Return the account of this name; one that differs by more than case is another's."""
        account = self._accounts.get(name)
        if account is None or in_form("NFC", name).lower() != account.name.lower():
            return None
        return account

    def _set_headers(self, request: Request, sender: Sender, message: Message) -> None:
        headers = MutableHeaders(scope=message)
        headers.update(HEADERS)
        headers.setdefault("cache-control", CACHE)
        cookies = Response()
        if sender.new_visitor and headers.get("content-type", "").startswith("text/html"):
            _set_cookie(request, cookies, VISITOR_COOKIE, sender.token, None)
        if sender.new_session:
            _set_cookie(
                request, cookies, SESSION_COOKIE, sender.token, int(SESSION_LASTS.total_seconds())
            )
        for cookie in cookies.headers.getlist("set-cookie"):
            headers.append("set-cookie", cookie)


def _require_post(request: Request) -> None:
    """Refuse GET and HEAD, which have no CSRF token, and which mail programs send for every link."""
    if request.method in SAFE_METHODS:
        raise HTTPException(405, _ONLY_POST)


def _sender(request: HTTPConnection) -> Sender:
    return request.scope[_SENDER]


def requested_path(request: Request) -> str:
    """Return the path and the query of the page."""
    query = request.url.query
    return quote(request.scope["path"]) + (f"?{query}" if query else "")


def cookie_of(request: Request, name: str) -> str | None:
    """Return the value of a cookie; None without it.

    Starlette would unquote all cookies of a request, which takes up to 8 s for one of 64 kB.
    """
    cookies = ";".join(request.headers.getlist("cookie")).split(";")
    values = dict(each.strip().split("=", 1) for each in cookies if "=" in each)
    return values.get(name)


def _cookie_name(request: HTTPConnection, name: str) -> str:
    # Browsers accept a cookie with this prefix only from this host, and over https.
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
