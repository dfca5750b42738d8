"""What an open item sends: the draft, the hold on it, the decision.

What belongs here: JSON in, JSON out, and which fault is whose. Every answer to a fault is
{"error": one sentence}.
"""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, cast

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from methods.review.decisions import StaleDecision, check_decision
from resources.review.accounts import Account
from resources.review.claims import LockLost
from resources.review.store import ReviewStore
from review.pages.frame import say
from review.pages.queue import next_address
from review.security import current_account, require

MAX_BODY = 4_000_000
"""Bytes of a request: a dialogue of 27 turns has about 100 kB."""

Json = dict[str, Any]


def _post(answer: Callable[[Request, Json], Json]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that gets a JSON object and answers with one."""

    @require("annotator")
    async def endpoint(request: Request) -> Response:
        try:
            return JSONResponse(await run_in_threadpool(answer, request, await _body(request)))
        except LockLost:
            raise HTTPException(409, say(request, "work.lost")) from None
        except StaleDecision:
            raise HTTPException(409, say(request, "work.changed_meanwhile")) from None
        except ValueError as error:
            # Half a character, NaN: what no page of ours sends. Or an edit that cannot stand.
            raise HTTPException(422, str(error)) from None

    return endpoint


@_post
def save_draft(request: Request, body: Json) -> Json:
    """Keep what was typed."""
    if not isinstance(body.get("draft"), dict):
        raise ValueError("draft is an object.")
    _store(request).save_draft(str(body.get("token")), body["draft"])
    return {"saved": True}


@_post
def renew(request: Request, body: Json) -> Json:
    """Hold the item for another while."""
    return {"held": _store(request).renew(str(body.get("token")))}


@_post
def let_go(request: Request, body: Json) -> Json:
    """Give the item back undecided."""
    _store(request).let_go(str(body.get("token")))
    return {"held": False}


@_post
def decide(request: Request, body: Json) -> Json:
    """Store a decision and claim the next item of the kind, or else of any."""
    store = _store(request)
    account = cast(Account, current_account(request))
    item_id = request.path_params["item_id"]
    course = store.course(item_id)
    if course is None:
        raise HTTPException(404, say(request, "item.missing"))
    said = {
        name: body.get(name)
        for name in ("content_hash", "round", "verdict", "edits", "reason", "note", "seconds")
    }
    record = {
        **said,
        "item_id": item_id,
        "reviewer": account.name,
        "decided_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
    event_id = store.decide(str(body.get("token")), check_decision(record, course.item))
    following = next_address(store, account, course.item["kind"])
    if not following.startswith("/items/"):
        following = next_address(store, account, None)
    return {"event_id": event_id, "next": following}


async def _body(request: Request) -> Json:
    taken = bytearray()
    async for part in request.stream():
        taken += part
        if len(taken) > MAX_BODY:
            raise HTTPException(413, "This is too long to be kept.")
    try:
        body = json.loads(bytes(taken))
    except (ValueError, RecursionError):
        raise HTTPException(400, "This is no JSON.") from None
    if not isinstance(body, dict):
        raise HTTPException(400, "This is no JSON object.")
    return body


def _store(request: Request) -> ReviewStore:
    store: ReviewStore = request.app.state.store
    return store
