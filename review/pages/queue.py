"""The HTML page of the review queue: progress, a list of items, and the reader's next item."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from methods.review.kinds import KINDS
from methods.review.process import DONE, Status
from resources.review.accounts import Account
from resources.review.items import MOST_SEARCHED, Filters, StatusCount, counted_of
from resources.review.store import ReviewStore
from review.pages.frame import say, sees_queue, show, store_of, with_form
from review.security import require, signed_in

PAGE = 50
_PLACE = re.compile(r"\d{1,9}", re.ASCII)
STATUSES: tuple[str, ...] = get_args(Status)
NOTICES = ("queue.nothing_left",)


@require("annotator")
def queue(request: Request) -> Response:
    """Show the progress by kind, and a list of items that match the filters, page by page."""
    store = store_of(request)
    account = signed_in(request)
    parameters = request.query_params
    filters = _filters(request)
    offset = int(parameters["offset"]) if _PLACE.fullmatch(parameters.get("offset", "")) else 0
    counts = store.progress()
    rows: Sequence[Any]
    listed: dict[str, Any]
    if sees_queue(request):
        rows, total = store.page(filters, offset, PAGE)
        present = {count.status for count in counts}
        listed = {
            "items": rows,
            "progress": _by_kind(counts),
            "statuses": [name for name in STATUSES if name in present or name in STATUSES[:2]],
            "reviewers": [account.name for account in request.app.state.accounts.all()],
        }
    else:
        filters = Filters(kind=filters.kind)
        rows, total = store.own_decisions(account.name, offset, PAGE)
        listed = {"own": rows}
    return show(
        request,
        "queue.html",
        filters=filters,
        total=f"{total}{'+' if total == counted_of(filters, offset, PAGE) else ''}",
        first=offset + 1,
        last=offset + len(rows),
        before=_page_at(filters, max(offset - PAGE, 0)) if offset else None,
        after=_page_at(filters, offset + PAGE) if offset + PAGE < total else None,
        kinds=sorted({count.kind for count in counts}),
        undo=store.last_decision(account.name),
        notice=parameters.get("notice") if parameters.get("notice") in NOTICES else None,
        tour=not store.has_decided(account.name),
        calibrates=account.role == "annotator" and store.in_calibration(account.name),
        **listed,
    )


@require("annotator")
@with_form
def next_item(request: Request, form: Mapping[str, str]) -> Response:
    """Lock the next item and go to its page, or back to the queue if there is none."""
    kind = form.get("kind") if form.get("kind") in KINDS else None
    return RedirectResponse(next_address(store_of(request), signed_in(request), kind), 303)


def next_address(store: ReviewStore, account: Account, kind: str | None) -> str:
    """Lock the next item for a person.

    Args:
        store: The review store.
        account: The person.
        kind: The kind of item; None for any.

    Returns:
        The address of the item, or of the queue if nothing is left.
    """
    lock = store.lock_item(account.name, account.role, kind=kind)
    return f"/items/{lock.item_id}" if lock else "/?notice=queue.nothing_left"


def _filters(request: Request) -> Filters:
    """Read the filters in the address. Raises HTTPException for unknown values and long texts."""
    parameters = request.query_params
    values = {
        name: parameters.get(name, "").strip() or None
        for name in ("kind", "status", "reviewer", "text")
    }
    for name, choices in (("kind", KINDS), ("status", STATUSES)):
        if values[name] is not None and values[name] not in choices:
            raise HTTPException(404, say(request, f"queue.no_{name}"))
    n_searched = len(values["text"] or "")
    if n_searched > MOST_SEARCHED:
        message = say(request, "queue.text_length").format(most=MOST_SEARCHED, n=n_searched)
        raise HTTPException(422, message)
    return Filters(**values)  # type: ignore[arg-type]


def _page_at(filters: Filters, offset: int) -> str:
    chosen = {name: value for name, value in asdict(filters).items() if value}
    return "/?" + urlencode({**chosen, "offset": offset})


def _by_kind(counts: list[StatusCount]) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for count in counts:
        row = rows.setdefault(count.kind, {"all": 0, "done": 0, "by_status": {}})
        row["all"] += count.n
        row["done"] += count.n * (count.status in DONE)
        row["by_status"][count.status] = count.n
    return rows
