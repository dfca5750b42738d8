"""The queue: how far it is, what is in it, and the way to the next item."""

from dataclasses import asdict
from typing import Any, cast, get_args
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from methods.review.kinds import KINDS
from methods.review.process import Status
from resources.review.accounts import Account
from resources.review.items import Filters, Progress
from resources.review.store import ReviewStore
from review.pages.frame import show
from review.security import current_account, require

PAGE = 50
STATUSES: tuple[str, ...] = get_args(Status)
DONE = ("approved", "rejected", "not_sampled")
"""Statuses in which an item waits for nobody."""
NOTICES = ("queue.nothing_left",)


@require("annotator")
def queue(request: Request) -> Response:
    """Progress by kind, and a page of the items that pass the filters."""
    store: ReviewStore = request.app.state.store
    asked = request.query_params
    filters = _filters(asked)
    offset = int(asked["offset"]) if asked.get("offset", "").isdecimal() else 0
    offset = min(offset, 10**9)
    items, total = store.page(filters, offset, PAGE)
    counts = store.progress()
    present = {each.status for each in counts}
    return show(
        request,
        "queue.html",
        filters=filters,
        items=items,
        total=total,
        first=offset + 1,
        last=offset + len(items),
        before=_page_at(filters, max(offset - PAGE, 0)) if offset else None,
        after=_page_at(filters, offset + PAGE) if offset + PAGE < total else None,
        progress=_by_kind(counts),
        statuses=[each for each in STATUSES if each in present or each in STATUSES[:2]],
        kinds=sorted({each.kind for each in counts}),
        annotators=[each.name for each in request.app.state.accounts.all()],
        notice=asked.get("notice") if asked.get("notice") in NOTICES else None,
    )


@require("annotator")
async def next_item(request: Request) -> Response:
    """Claim the next item and go there; back to the queue when there is none."""
    form = await request.form()
    kind = str(form.get("kind", ""))
    return RedirectResponse(
        next_address(
            request.app.state.store,
            cast(Account, current_account(request)),
            kind if kind in KINDS else None,
        ),
        303,
    )


def next_address(store: ReviewStore, account: Account, kind: str | None) -> str:
    """Where the person goes on: to an item that is claimed for them, if there is one."""
    claim = store.claim(account.name, account.role, kind=kind)
    return f"/items/{claim.item_id}" if claim else "/?notice=queue.nothing_left"


def _filters(asked: Any) -> Filters:
    given = {name: asked.get(name) or None for name in ("kind", "annotator", "text", "bucket")}
    status = asked.get("status")
    return Filters(**given, status=status if status in STATUSES else None)


def _page_at(filters: Filters, offset: int) -> str:
    chosen = {name: value for name, value in asdict(filters).items() if value}
    return "/?" + urlencode({**chosen, "offset": offset})


def _by_kind(counts: list[Progress]) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for each in counts:
        row = rows.setdefault(each.kind, {"all": 0, "done": 0, "by_status": {}})
        row["all"] += each.n
        row["done"] += each.n * (each.status in DONE)
        row["by_status"][each.status] = each.n
    return rows
