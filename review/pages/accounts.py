"""HTML pages for signing in and out, and for administrators to manage accounts."""

import os
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from resources.review.accounts import ROLES, AccountError, Accounts
from resources.review.sign_in_limits import TooManyAttempts
from resources.web.ports import REVIEW_VARIABLE, review_page
from review.pages.frame import say, show, with_form
from review.security import check_password, local_path, require, sign_in, sign_out, use_link


async def login(request: Request) -> Response:
    """Show the sign-in form (GET), or sign in by name and password (POST)."""
    next_page = local_path(request.query_params.get("next"))
    if request.method == "GET":
        return show(request, "login.html", next=next_page)
    form = await request.form()
    name = str(form.get("name", ""))
    again = {"name": name, "next": next_page}
    try:
        account = await check_password(request, name, str(form.get("password", "")))
    except TooManyAttempts as error:
        minutes = -(-int(error.wait.total_seconds()) // 60)
        problem = f"{say(request, 'login.too_many')} {minutes}"
        return show(request, "login.html", 429, problem=problem, **again)
    if account is None:
        return show(request, "login.html", 401, problem=say(request, "login.wrong"), **again)
    response = RedirectResponse(next_page, 303)
    await sign_in(request, response, account)
    return response


async def link(request: Request) -> Response:
    """Show the account of a sign-in link (GET), or sign in with the link (POST)."""
    token = request.path_params["token"]
    if request.method == "GET":
        invited = await run_in_threadpool(_accounts(request).invited, token)
        if invited is not None:
            return show(request, "link.html", name=invited.name)
    elif (account := await use_link(request, token)) is not None:
        response = RedirectResponse("/", 303)
        await sign_in(request, response, account)
        return response
    return show(request, "login.html", 410, problem=say(request, "login.link_used"))


async def logout(request: Request) -> Response:
    """End the session."""
    response = RedirectResponse("/login", 303)
    await sign_out(request, response)
    return response


@require("admin")
@with_form
def accounts(request: Request, form: Mapping[str, str]) -> Response:
    """Show every account (GET), or change one (POST)."""
    managed, code, done = _accounts(request), 200, {}
    if request.method == "POST":
        name, action = form.get("name", ""), form.get("action", "")
        try:
            address = _act(request, managed, name, action, form.get("role", ""))
            done = {"link": address, "link_name": name}
        except AccountError as error:
            code, done = 422, {"problem": str(error)}
    return show(request, "accounts.html", code, accounts=managed.all(), roles=ROLES, **done)


def _act(request: Request, managed: Accounts, name: str, action: str, role: str) -> str | None:
    """Perform the action; return the new sign-in link, or None without one."""
    if action == "disable":
        managed.disable(name)
    elif action == "enable":
        managed.enable(name)
    elif action in ("add", "link"):
        if action == "add":
            managed.add(name, role)
        path = f"/link/{managed.link(name)}"
        if os.environ.get(REVIEW_VARIABLE):
            return review_page(path)
        return str(request.url.replace(path=path, query=""))
    else:
        raise HTTPException(400, "The action is one of add, link, disable and enable.")
    return None


def _accounts(request: Request) -> Accounts:
    accounts: Accounts = request.app.state.accounts
    return accounts
