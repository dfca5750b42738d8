"""HTML pages of the ledger of model calls: the list, one call, and two calls side by side."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, get_args
from urllib.parse import urlencode

from jinja2 import Environment
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from methods.errors import UserError
from resources.calls_page.comparing import compare_requests, facts
from resources.calls_page.request_parts import (
    RequestParts,
    cut,
    moment,
    one_line,
    request_view,
    usd,
    visible,
)
from resources.files.home import images_path, ledger_path
from resources.files.object_storage import shared_files
from resources.images.store import ImageStore
from resources.llm.ledger import LedgerReader
from resources.llm.ledger.calls import ANSWERED, UNREAD
from resources.llm.ledger.reading import CallFilter, LedgerCursor, LedgerEntry, LedgerRowId, Text
from resources.llm.request import FailureKind
from resources.reports.page import environment
from resources.warehouse import WarehouseError
from resources.warehouse.configured import warehouse_of_home
from resources.web.addresses import CALLS, PREFIX
from resources.web.page_guard import PageGuard, policy

OUTCOMES = (ANSWERED, UNREAD, *get_args(FailureKind), "lost")
"""Values of the filter for outcomes. `lost` means every outcome except an answer."""
LONGEST = 500
"""The most characters of a query parameter."""
_NAME = re.compile(r"([0-9a-f]{64})(?:-([0-9]{1,18}))?")
_PLACE = re.compile(r"([0-9]{0,18})\.([0-9]{0,18})")
_NAMES = {"a": "The first call", "b": "The second call"}


class QueryError(UserError):
    """The query of an address is not valid; the message names the parameter and its valid values."""


class CallListQuery(NamedTuple):
    """A page of the list: its filter, its first row, and the first of two calls to compare, if any."""

    wanted: CallFilter
    before: LedgerCursor
    a: LedgerRowId | None

    def address(self, **changes: object) -> str:
        """Return the URL of this page with changes of `before`, `a` or a field of the filter."""
        parameters = {**self.wanted._asdict(), "before": self.before, "a": self.a, **changes}
        parameters["cost"] = parameters.pop("cost_usd")
        place = parameters.pop("before")
        if place and place != LedgerCursor():
            parameters["before"] = ".".join("" if seq is None else str(seq) for seq in place)
        query = urlencode(
            {name: value for name, value in parameters.items() if value not in (None, "")}
        )
        return f"{CALLS}?{query}" if query else CALLS


def query_of(params: Mapping[str, str]) -> CallListQuery:
    """Parse the query parameters of the list. Unknown parameters are ignored. Raises QueryError."""
    values = {name: params[name].strip() or None for name in params}
    for name, value in values.items():
        if value is not None and len(value) > LONGEST:
            raise QueryError(f"{name[:40]} has {len(value)} characters: {LONGEST} may be given.")
    outcome = values.get("outcome")
    if outcome is not None and outcome not in OUTCOMES:
        raise QueryError(f"There is no outcome {outcome}: it is one of {', '.join(OUTCOMES)}.")
    wanted = CallFilter(
        stage=values.get("stage"),
        model=values.get("model"),
        endpoint=values.get("endpoint"),
        outcome=outcome,
        run=values.get("run"),
        cost_usd=_cost(values.get("cost")),
        text=values.get("text"),
    )
    return CallListQuery(wanted, _place(values.get("before")), chosen_call(values, "a"))


def chosen_call(params: Mapping[str, str | None], which: str) -> LedgerRowId | None:
    """Parse the id of a call in parameter `a` or `b`; None if it is empty. Raises QueryError."""
    value = (params.get(which) or "").strip()
    return name_of(value, _NAMES[which]) if value else None


def name_of(value: str, what: str = "The call") -> LedgerRowId:
    """Parse the id of a ledger row.

    Args:
        value: The text.
        what: The subject of the error message.

    Raises:
        QueryError: The text is not an id.
    """
    match = _NAME.fullmatch(value)
    if match is None:
        raise QueryError(
            f"{what} {value[:80]!r} is not a key of the ledger: a key has 64 digits and letters "
            "from a to f."
        )
    key, charge = match.groups()
    return LedgerRowId(key, None if charge is None else int(charge))


def _cost(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        cost = float(value)
    except ValueError:
        cost = math.nan
    if not (math.isfinite(cost) and cost >= 0):
        raise QueryError(f"The cost {value} is not an amount of US dollars. Example: 0.01.")
    return cost


def _place(value: str | None) -> LedgerCursor:
    if value is None:
        return LedgerCursor()
    match = _PLACE.fullmatch(value)
    if match is None:
        raise QueryError(
            f"before={value} is not a place in the list: follow the links of the page."
        )
    call, charge = (int(seq) if seq else None for seq in match.groups())
    return LedgerCursor(call, charge)


ROWS_OF_PAGE = 50
MOST_ROWS = 200
"""The most table rows that the page of one call lists."""
FIRST_WORDS = 110
"""The number of characters of a reply that the list shows."""
_HERE = Path(__file__).parent


def routes_of(home: Path) -> list[Route]:
    """Make the routes of a workspace's model calls; `/loom` redirects to them. The ledger need not
    exist yet.
    """
    pages = _Pages(home)
    guard = [Middleware(PageGuard, policy_of=lambda _scope: policy(forms=True))]
    answered: dict[str, Callable[[Request], Response]] = {
        **dict.fromkeys((PREFIX, f"{PREFIX}/"), lambda _request: RedirectResponse(CALLS)),
        CALLS: pages.list,
        f"{CALLS}/{{name}}": pages.call_page,
        **{f"{CALLS}/{{name}}/{text}": partial(pages.text, text) for text in get_args(Text)},
    }
    return [
        Route(path, _answering(page), methods=["GET"], middleware=guard)
        for path, page in answered.items()
    ]


class _NotFound(UserError):
    """The ledger has no such call."""


class _Pages:
    """The HTML pages of one workspace. Each request opens the files it needs and closes them again."""

    def __init__(self, home: Path) -> None:
        self._ledger = LedgerReader(home / ledger_path().name)
        self._warehouse = warehouse_of_home(folder=home)
        self._images = ImageStore(home / images_path().name, shared_files())

    def list(self, request: Request) -> HTMLResponse:
        """Show a page of the list, or two calls side by side if `a` and `b` are given."""
        params = request.query_params
        b = chosen_call(params, "b")
        query = query_of(params)
        if query.a and b:
            return self._compared(query.a, b)
        page = self._ledger.page(query.wanted, query.before, ROWS_OF_PAGE)
        return _show(
            "list.html",
            query=query,
            page=page,
            names=self._ledger.names(),
            labels=self._labels(page.rows),
            outcomes=OUTCOMES,
            words=lambda text: one_line(text, FIRST_WORDS),
        )

    def call_page(self, request: Request) -> HTMLResponse:
        entry = self._entry(name_of(request.path_params["name"]))
        request_parts = self._request_parts(entry)
        others = self._ledger.same_request(entry.name.key)
        return _show(
            "call.html",
            entry=entry,
            reply=cut(entry.reply, len(entry.reply), entry.n_reply),
            reasoning=cut(entry.reasoning or "", len(entry.reasoning or ""), entry.n_reasoning),
            asked=request_parts,
            facts=facts([entry], [request_parts]),
            others=[name for name in others if name != entry.name],
            made=self._rows_made_of(entry.name.key),
        )

    def text(self, kind: Text, request: Request) -> Response:
        """Return the whole reply of one call, or its reasoning, as plain text."""
        name = name_of(request.path_params["name"])
        text = self._ledger.whole_text(name, kind)
        if text is None:
            raise _NotFound(
                f"The ledger has no {kind} of the call {name}: look for it in the list."
            )
        return PlainTextResponse(text.encode("utf-8", "replace"))

    def _compared(self, a: LedgerRowId, b: LedgerRowId) -> HTMLResponse:
        entries = self._entry(a), self._entry(b)
        requests = [self._request_parts(entry) for entry in entries]
        in_pairs, replies = compare_requests((entries[0], requests[0]), (entries[1], requests[1]))
        return _show(
            "compare.html",
            entries=entries,
            facts=facts(entries, requests),
            requests=in_pairs,
            replies=replies,
            without_request=[entry for entry in entries if entry.request is None],
        )

    def _entry(self, name: LedgerRowId) -> LedgerEntry:
        entry = self._ledger.entry(name)
        if entry is None:
            raise _NotFound(f"The ledger has no call {name}: look for it in the list.")
        return entry

    def _request_parts(self, entry: LedgerEntry) -> RequestParts | None:
        return None if entry.request is None else request_view(entry.request, self._images)

    def _labels(self, rows: Sequence[LedgerEntry]) -> dict[str, str]:
        """The labels of the evaluated models by call key; empty if the tables cannot be read."""
        keys = {"keys": [row.name.key for row in rows]}
        try:
            labels = self._warehouse.snapshot_read("evaluate/labels_of_calls", keys).to_pylist()
        except WarehouseError:
            return {}
        return {row["key"]: row["label"] for row in labels}

    def _rows_made_of(self, key: str) -> dict[str, Any]:
        """The table rows that were made from the call (lineage), or why they are unknown."""
        try:
            rows = self._warehouse.snapshot_read(
                "ledger/rows_of_call", {"key": key, "n_rows": MOST_ROWS}
            ).to_pylist()
        except WarehouseError as error:
            return {"unknown": str(error), "rows": [], "more": False}
        return {"unknown": None, "rows": rows, "more": len(rows) == MOST_ROWS}


def _answering(page: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Make a handler that answers with a page, or with the message of an error of the user."""

    def answer(request: Request) -> Response:
        try:
            return page(request)
        except UserError as error:
            code = {_NotFound: 404, QueryError: 400}.get(type(error), 503)
            return _show("problem.html", code, message=str(error))

    return answer


def _show(template: str, code: int = 200, **values: Any) -> HTMLResponse:
    html = (
        _templates()
        .get_template(template)
        .render(home=CALLS, reports=f"{PREFIX}/reports/", **values)
    )
    # Texts from outside may have lone surrogates, which UTF-8 cannot encode.
    return HTMLResponse(html.encode("utf-8", "replace"), code)


@cache
def _templates() -> Environment:
    templates = environment(_HERE / "templates")
    templates.filters.update(visible=visible, usd=usd, moment=moment)
    return templates
