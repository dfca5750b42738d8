"""The lead's page, for administrators: progress, inter-annotator agreement, disputes, locks, forecast.

The queries are in `resources/review/lead.py`.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from methods.review.agreement import ALL
from methods.review.assignment import BUCKETS, doubts
from methods.review.kinds import KINDS
from methods.review.overview import FEWEST_DECISIONS, by_day
from methods.spreadsheet_cells import csv_file
from resources.review.lead import FEWEST_IN_COMMON, RATED_ITEMS, Overview
from resources.review.store import ReviewStore
from review.pages.frame import MOST_DIGITS, is_number, say, show, store_of, with_form
from review.security import require, signed_in

QUICK_SECONDS, TIMES = 0.3, 30
"""If the figures took t > QUICK_SECONDS to compute, they are cached for TIMES * t seconds. During this
time, new decisions do not change the page."""
MOST_GOLD = 1000
SHOWN_WEEKS = 8
HEAT = 4
"""Number of shades in the table of days."""
SHOWN_MEASURES = (
    *("raw", "cohen_kappa", "krippendorff_nominal", "krippendorff_ordinal"),
    *("spearman", "mae"),
)
_FIELDS = ("day", "reviewer", "kind", "round", "n_decisions", "n_skipped", "median_seconds")


class LeadFigures:
    """The cached figures of the lead's page; concurrent requests share one computation."""

    def __init__(self, store: ReviewStore):
        self._store = store
        self._turn = threading.Lock()
        self._cached: tuple[float, Overview] | None = None

    def current(self) -> Overview:
        """Return the figures; slow ones come from the cache for some time."""
        with self._turn:
            began = time.monotonic()
            if self._cached is not None and began < self._cached[0]:
                return self._cached[1]
            overview = self._store.overview()
            took = time.monotonic() - began
            self._cached = (began + (TIMES * took if took > QUICK_SECONDS else 0), overview)
            return overview

    def clear(self) -> None:
        """Compute the figures again at the next request."""
        with self._turn:
            self._cached = None


@require("admin")
def lead(request: Request) -> Response:
    """Show the figures and the locks."""
    figures: Overview = request.app.state.figures.current()
    store = store_of(request)
    assignments, rules = store.assignments(), store.rules()
    most = max((n for person in figures.people for n in person["by_day"].values()), default=0)
    return show(
        request,
        "lead.html",
        figures=figures,
        days=list(figures.people[0]["by_day"]) if figures.people else [],
        heat=lambda n: -(-n * HEAT // most) if most else 0,
        agreement=_agreement(figures),
        fewest=FEWEST_IN_COMMON,
        fewest_decisions=FEWEST_DECISIONS,
        rated_items=RATED_ITEMS,
        holds=store.holds(),
        released=request.query_params.get("released"),
        assignments=assignments,
        doubts=doubts(
            [(each.assignment, each.n_items) for each in assignments],
            rules.people,
            {each.kind for each in store.progress()},
        ),
        people=[each for each in request.app.state.accounts.all() if not each.disabled],
        kinds=list(KINDS),
        buckets=BUCKETS,
        rules=rules,
        weeks=sorted({row["week"] for row in figures.weeks})[-SHOWN_WEEKS:],
        by_week={(row["reviewer"], row["week"]): row for row in figures.weeks},
    )


@require("admin")
@with_form
def release(request: Request, form: Mapping[str, str]) -> Response:
    """End a person's lock on an item."""
    if not store_of(request).release(form.get("item_id", ""), form.get("annotator", "")):
        raise HTTPException(404, say(request, "lead.no_hold"))
    return RedirectResponse("/lead?released=1#holds", 303)


@require("admin")
@with_form
def assign(request: Request, form: Mapping[str, str]) -> Response:
    """Assign items to a person, or end an assignment."""
    store, made_by = store_of(request), signed_in(request).name
    if end := form.get("end"):
        if not is_number(end) or not store.end_assignment(int(end), made_by):
            raise HTTPException(404, say(request, "lead.no_assignment"))
        return RedirectResponse("/lead#assignments", 303)
    person = request.app.state.accounts.get(form.get("name", ""))
    bucket = form.get("bucket", "")
    number = int(bucket[:MOST_DIGITS]) if bucket.isdecimal() else None
    share = form.get("share") or "100"
    percent = int(share) if is_number(share) else 0
    kind = form.get("kind", "")
    if (
        person is None
        or person.disabled
        or kind not in ("", *KINDS)
        or not 1 <= percent <= 100
        or not 1 <= (number or 1) <= BUCKETS
    ):
        raise HTTPException(422, say(request, "lead.not_assigned"))
    store.assign(
        *(person.name, person.role, made_by),
        kind=kind or None,
        bucket=number,
        share=percent / 100,
    )
    return RedirectResponse("/lead#assignments", 303)


@require("admin")
@with_form
def make_gold(request: Request, form: Mapping[str, str]) -> Response:
    """Make gold items from the items that experts decided last."""
    number = form.get("n", "")
    if not is_number(number) or not 1 <= int(number) <= MOST_GOLD:
        raise HTTPException(422, say(request, "lead.not_gold"))
    store_of(request).make_gold(int(number), signed_in(request).name)
    request.app.state.figures.clear()
    return RedirectResponse("/lead#gold", 303)


@require("admin")
def lead_json(request: Request) -> Response:
    """Return all figures of the page as JSON."""
    figures = asdict(request.app.state.figures.current())
    figures["forecast"]["end"] = figures["forecast"]["end"] and str(figures["forecast"]["end"])
    return JSONResponse(
        {
            **figures,
            "holds": [asdict(hold) for hold in store_of(request).holds()],
            "assignments": [
                {**figures._asdict(), "assignment": asdict(figures.assignment)}
                for figures in store_of(request).assignments()
            ],
        },
        headers={"content-disposition": 'attachment; filename="review-lead.json"'},
    )


@require("admin")
def lead_csv(request: Request) -> Response:
    """Return decisions and seconds by day, person, kind and round as CSV."""
    return Response(
        csv_file(_FIELDS, by_day(store_of(request).work())),
        media_type="text/csv; charset=utf-8",
        headers={"content-disposition": 'attachment; filename="review-lead.csv"'},
    )


def _agreement(figures: Overview) -> list[dict[str, Any]]:
    """Select the rows of SHOWN_MEASURES, with intervals from FEWEST_IN_COMMON items on."""
    none = {"low": None, "high": None}
    return [
        {**row, "pair": None if row["raters"] == ALL else row["raters"].replace("|", " – ")}
        | (none if row["n_items"] < FEWEST_IN_COMMON else {})
        for row in figures.agreement
        if row["measure"] in SHOWN_MEASURES
    ]
