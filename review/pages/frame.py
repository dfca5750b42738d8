"""The common parts of the review app's HTML pages: templates, translations, keyboard shortcuts."""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, wraps
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from methods.json_text import from_json
from methods.prompts.messages import IMAGE_NAME
from methods.review.decisions import QueueItem
from methods.review.kinds import NONE_FITS, REASONS
from resources.review.store import ReviewStore
from review import security

HERE = Path(__file__).resolve().parent.parent
STATIC = HERE / "static"
LANGUAGES = {"en": "English", "zh": "中文"}
LANGUAGE_COOKIE = "review_language"
_IMAGE = re.compile(f"({IMAGE_NAME.replace('(', '(?:')})", re.IGNORECASE)
_OF_THE_ITEM = (409, 422)
"""HTTP statuses of a refused action on an existing item."""
MOST_DIGITS = 18
"""Maximum number of digits of a number that fits into an integer column."""
_A_YEAR = 365 * 24 * 3600

# Part of the app -> (keys, name of their action); several keys are alternatives or opposites.
KEYS = (
    ("everywhere", (("?", "help"), ("q", "to_queue"), ("u", "undo"))),
    ("queue", (("n", "next_item"), ("j k", "rows"), ("/", "search"), ("[ ]", "change_page"))),
    (
        "reading",
        (
            ("j k", "parts"),
            ("e Enter", "edit"),
            ("Escape", "end_edit"),
            ("n", "add_turn"),
            ("x", "remove_turn"),
            ("Shift+K", "move_up"),
            ("Shift+J", "move_down"),
            ("1 … 9 0", "score"),
            ("h", "history"),
            ("b", "back"),
        ),
    ),
    (
        "images",
        (
            ("1 … 9", "open_image"),
            ("← →", "image_step"),
            ("+", "zoom_in"),
            ("-", "zoom_out"),
            ("0", "zoom_fit"),
            ("Escape", "close_image"),
        ),
    ),
    (
        "deciding",
        (
            ("a", "accept"),
            ("r", "reject"),
            ("s", "skip"),
            ("m", "note"),
            (", . ;", "version"),
            ("Ctrl+Enter", "send"),
        ),
    ),
)

TOUR = ("queue", "item", "decide", "keys")
"""The steps of the tour that people see at their first sign-in."""


@cache
def texts(language: str) -> dict[str, str]:
    """Load the texts of the app's interface in a language, by name."""
    by_name: dict[str, str] = from_json(
        (HERE / "languages" / f"{language}.json").read_text(encoding="utf-8")
    )
    return by_name


@cache
def version() -> str:
    """Return a hash of the static files; it is in their address, so browsers can cache them forever."""
    digest = sha256()
    for path in sorted(STATIC.iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def language_of(request: Request) -> str:
    """Return the reader's chosen language; else Chinese if the browser prefers it, or English."""
    chosen = security.cookie_of(request, LANGUAGE_COOKIE)
    if chosen in LANGUAGES:
        return chosen
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"


def say(request: Request, name: str) -> str:
    """Return a text of the interface, by its name, in the reader's language."""
    return texts(language_of(request))[name]


def store_of(request: Request) -> ReviewStore:
    """Return the review store of the app."""
    store: ReviewStore = request.app.state.store
    return store


def sees_queue(request: Request) -> bool:
    """Whether the reader may look at every item, and not only at those that they decide.

    Annotators may not if the rules have gold items: the list has the item that a gold item copies, with
    its decisions, and does not have the copy.
    """
    return security.signed_in(request).may("expert") or not store_of(request).rules().uses_gold


def shown_item(request: Request) -> QueueItem:
    """Return the item of the address.

    Raises HTTPException if there is no such item, or the reader may not see it.
    """
    store, name = store_of(request), security.signed_in(request).name
    item_id = request.path_params["item_id"]
    item = store.item(item_id)
    if not sees_queue(request) and not store.is_in_work(item_id, name):
        decided = store.decisions([item_id], revoked=True)
        if all(each.reviewer != name for each in decided):
            raise HTTPException(403, say(request, "item.of_others"))
    if item is None:
        raise HTTPException(404, say(request, "item.missing"))
    return item


def with_form(
    answer: Callable[[Request, Mapping[str, str]], Response],
) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint from a function of a request and its form, which runs in a thread."""

    @wraps(answer)
    async def endpoint(request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        return await run_in_threadpool(answer, request, form)

    return endpoint


def is_number(text: str) -> bool:
    """Whether a text of a form is a number that a database can store as an integer."""
    return text.isdecimal() and len(text) <= MOST_DIGITS


def show(request: Request, template: str, code: int = 200, **values: Any) -> HTMLResponse:
    """Render an HTML page.

    Args:
        request: The request.
        template: The file name of the template.
        code: The HTTP status.
        **values: The variables of the template.
    """
    language = language_of(request)
    html = (
        _templates()
        .get_template(template)
        .render(
            t=texts(language).__getitem__,
            label=lambda english: _label(texts(language), english),
            language=language,
            languages=LANGUAGES,
            account=security.current_account(request),
            csrf=security.csrf_token(request),
            version=version(),
            back=security.requested_path(request) if request.method == "GET" else "/",
            keys_by_group=KEYS,
            tour_steps=TOUR,
            reasons=REASONS,
            **values,
        )
    )
    return HTMLResponse(html, code)


def refuse(request: Request, error: HTTPException) -> Response:
    """Make the response to a request that failed or was refused: HTML, or JSON for a script."""
    # Messages of the server are translated by their English sentence.
    message = texts(language_of(request)).get(error.detail, error.detail)
    if security.wants_json(request):
        return JSONResponse({"error": message}, error.status_code, error.headers)
    page = show(
        request,
        "message.html",
        error.status_code,
        heading=say(request, "error.title"),
        message=message,
        # If the item exists, the page links back to it.
        item_id=request.path_params.get("item_id") if error.status_code in _OF_THE_ITEM else None,
    )
    page.headers.update(error.headers or {})
    return page


def choose_language(request: Request) -> Response:
    """Store the language in a cookie and go back to the page."""
    language = request.path_params["language"]
    if language not in LANGUAGES:
        raise HTTPException(404)
    response = RedirectResponse(security.local_path(request.query_params.get("back")), 303)
    response.set_cookie(LANGUAGE_COOKIE, language, _A_YEAR, httponly=True, samesite="lax")
    return response


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["zip_self"] = lambda values: [(value, value) for value in values]
    environment.filters["with_images"] = _with_images
    environment.filters["choices_and_none"] = lambda choices, none: [
        *((name, f"{name}: {text}") for name, text in choices.items()),
        (NONE_FITS, f"{NONE_FITS}: {none}"),
    ]
    return environment


def _with_images(text: str) -> Markup:
    """Escape a text, and isolate each `<image-i>` so that right-to-left text does not reorder it."""
    return Markup(  # Every piece is escaped.
        "".join(
            f'<bdi dir="ltr">{escape(piece)}</bdi>' if place % 2 else str(escape(piece))
            for place, piece in enumerate(_IMAGE.split(text))
        )
    )


def _label(language: dict[str, str], english: str) -> str:
    """Translate the label of a text (`Question 2`); names from the content are not translated."""
    word, _, rest = english.partition(" ")
    return f"{language.get(f'label.{word}', word)} {rest}".strip()
