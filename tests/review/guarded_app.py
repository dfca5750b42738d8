"""A small app behind the guard, three accounts for it, and browsers that sign in to it."""

from argon2 import PasswordHasher
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from resources.review.accounts import Accounts
from review.security import (
    Security,
    check_password,
    csrf_token,
    current_account,
    local_path,
    refuse,
    require,
    sign_in,
    sign_out,
)
from tests.review.html import csrf_token_in

RIGHT, WRONG = "correct horse battery", "incorrect horse battery"


def three_accounts(path):
    """One of each role, all with the password RIGHT; what hashing it costs is not what is tested."""
    accounts = Accounts(path, hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    for name, role in (("ann", "annotator"), ("eve", "expert"), ("ada", "admin")):
        accounts.add(name, role, RIGHT)
    return accounts


def browsers(accounts):
    """Makes browsers, each with cookies of its own."""
    app = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Security, accounts=accounts)],
        exception_handlers={HTTPException: refuse},
    )

    def make(base_url="http://testserver", **options):
        return TestClient(app, base_url, follow_redirects=False, **options)

    return make


def token_of(browser, page="/login"):
    return csrf_token_in(browser.get(page).text)


def signs_in(browser, name="ann", password=RIGHT, **fields):
    data = {"name": name, "password": password, "csrf_token": token_of(browser), **fields}
    return browser.post("/login", data=data)


def session_of(browser):
    return browser.cookies.get("review_session")


def form(request: Request) -> HTMLResponse:
    return HTMLResponse(f'<input name="csrf_token" value="{csrf_token(request)}">')


async def login(request: Request):
    said = await request.form()
    account = await check_password(request, said["name"], said["password"])
    if account is None:
        return HTMLResponse("Name or password is wrong.", 403)
    response = RedirectResponse(local_path(said.get("next")), 303)
    await sign_in(request, response, account)
    return response


async def logout(request: Request):
    response = RedirectResponse("/login", 303)
    await sign_out(request, response)
    return response


@require("annotator")
def queue(request: Request):
    account = current_account(request)
    token = f'<input name="csrf_token" value="{csrf_token(request)}">'
    return HTMLResponse(f"{account.name} {account.role} {token}")


@require("expert")
async def experts(request: Request):
    return PlainTextResponse("for experts")


@require("admin")
async def admins(request: Request):
    return PlainTextResponse("for admins")


@require("annotator")
async def decide(request: Request):
    return JSONResponse({"got": await request.json()})


@require("annotator")
async def note(request: Request):
    return PlainTextResponse((await request.form())["note"])


@require("annotator")
async def image(request: Request):
    return PlainTextResponse("…", headers={"cache-control": "private, immutable"})


async def broken(request: Request):
    raise RuntimeError("secret of the machine")


ROUTES = [
    Route("/", queue),
    Route("/login", form),
    Route("/login", login, methods=["POST"]),
    Route("/logout", logout, methods=["POST"]),
    Route("/experts", experts),
    Route("/admins", admins),
    Route("/items/{item}", queue),
    Route("/decide", decide, methods=["POST", "PUT", "DELETE"]),
    Route("/note", note, methods=["POST"]),
    Route("/image", image),
    Route("/broken", broken),
]
