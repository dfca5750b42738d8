"""The page of model calls over HTTP: the list, one call, two calls side by side.

What belongs here: which data each page gets, and what it says where there is none. What does not: the
reading (`resources/llm/ledger/reading.py`), who is answered and what a page may do
(`resources/reports/guard.py`), the server (`dagster_project/calls.py` and `webserver.py`).
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, get_args

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from methods.errors import UserError
from resources.calls_page.comparing import compared, facts
from resources.calls_page.query import OUTCOMES, QueryError, chosen, name_of, query_of
from resources.calls_page.request_parts import Asked, asked
from resources.calls_page.texts import cut, moment, one_line, usd, visible
from resources.home import images_path, ledger_path, warehouse_path
from resources.images.store import ImageStore
from resources.llm.ledger import LedgerReader
from resources.llm.ledger.entries import Entry, Name
from resources.llm.ledger.reading import Text
from resources.reports.addresses import CALLS
from resources.reports.guard import Guard, policy
from resources.warehouse import Warehouse, WarehouseError

ROWS_OF_PAGE = 50
MOST_ROWS = 200
"""Rows of tables that one call's page names."""
FIRST_WORDS = 110
"""Characters of a reply in the list."""
REFUSAL = "Model calls are read on the machine that they are on."
_HERE = Path(__file__).parent


def routes_of(home: Path) -> list[Route]:
    """The routes of a home's model calls. The ledger may come later than the routes."""
    pages = _Pages(home)
    guard = [Middleware(Guard, policy_of=lambda _scope: policy(forms=True), refusal=REFUSAL)]
    answered: dict[str, Callable[[Request], Response]] = {
        CALLS: pages.list,
        f"{CALLS}/{{name}}": pages.one,
        **{f"{CALLS}/{{name}}/{of}": partial(pages.text, of) for of in get_args(Text)},
    }
    return [Route(path, page, methods=["GET"], middleware=guard) for path, page in answered.items()]


class _NotFound(UserError):
    """The ledger has no such call."""


class _Pages:
    """The pages of one home; each request opens what it needs and closes it again."""

    def __init__(self, home: Path) -> None:
        self._ledger = LedgerReader(home / ledger_path().name)
        self._warehouse = Warehouse(home / warehouse_path().name)
        self._images = ImageStore(home / images_path().name)

    def list(self, request: Request) -> HTMLResponse:
        """A page of the list, or two calls side by side where `a` and `b` name them."""
        try:
            params = request.query_params
            b = chosen(params, "b")
            query = query_of(params)
            if query.a and b:
                return self._compared(query.a, b)
            page = self._ledger.page(query.wanted, query.before, ROWS_OF_PAGE)
            return _show(
                "list.html",
                query=query,
                page=page,
                names=self._ledger.names(),
                outcomes=OUTCOMES,
                words=lambda text: one_line(text, FIRST_WORDS),
            )
        except UserError as error:
            return _problem(error)

    def one(self, request: Request) -> HTMLResponse:
        """One call."""
        try:
            entry = self._entry(name_of(request.path_params["name"]))
            others = self._ledger.same_request(entry.name.key)
            return _show(
                "call.html",
                entry=entry,
                reply=cut(entry.reply, len(entry.reply), entry.n_reply),
                reasoning=cut(entry.reasoning or "", len(entry.reasoning or ""), entry.n_reasoning),
                asked=self._asked(entry),
                others=[name for name in others if name != entry.name],
                made=self._rows_made_of(entry.name.key),
            )
        except UserError as error:
            return _problem(error)

    def text(self, of: Text, request: Request) -> Response:
        """The whole reply of one call, or its reasoning, as it is."""
        try:
            name = name_of(request.path_params["name"])
            text = self._ledger.whole_text(name, of)
            if text is None:
                raise _NotFound(
                    f"The ledger has no {of} of the call {name}: look for it in the list."
                )
            return PlainTextResponse(text.encode("utf-8", "replace"))
        except UserError as error:
            return _problem(error)

    def _compared(self, a: Name, b: Name) -> HTMLResponse:
        entries = self._entry(a), self._entry(b)
        requests = [self._asked(entry) for entry in entries]
        in_pairs, replies = compared((entries[0], requests[0]), (entries[1], requests[1]))
        return _show(
            "compare.html",
            entries=entries,
            facts=facts(entries, requests),
            requests=in_pairs,
            replies=replies,
            without_request=[entry for entry in entries if entry.request is None],
        )

    def _entry(self, name: Name) -> Entry:
        entry = self._ledger.entry(name)
        if entry is None:
            raise _NotFound(f"The ledger has no call {name}: look for it in the list.")
        return entry

    def _asked(self, entry: Entry) -> Asked | None:
        return None if entry.request is None else asked(entry.request, self._images)

    def _rows_made_of(self, key: str) -> dict[str, Any]:
        """The rows of the warehouse that name the call, by table; or why they are not known."""
        try:
            found = self._warehouse.glance(
                "ledger/rows_of_call", {"key": key, "n_rows": MOST_ROWS}
            ).to_pylist()
        except WarehouseError as error:
            return {"unknown": str(error), "rows": [], "more": False}
        return {"unknown": None, "rows": found, "more": len(found) == MOST_ROWS}


def _problem(error: UserError) -> HTMLResponse:
    code = 404 if isinstance(error, _NotFound) else 400 if isinstance(error, QueryError) else 503
    return _show("problem.html", code, message=str(error))


def _show(template: str, code: int = 200, **values: Any) -> HTMLResponse:
    html = _templates().get_template(template).render(home=CALLS, **values)
    # A text from outside may hold what no encoding has.
    return HTMLResponse(html.encode("utf-8", "replace"), code)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    environment.filters["usd"] = usd
    environment.filters["moment"] = moment
    return environment
