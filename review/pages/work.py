"""The JSON endpoints of an open item: save the draft, renew or release the lock, decide.

Each error response is {"error": one sentence}, with a 4xx or 5xx status.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from methods.json_text import from_json
from methods.review.decisions import MOST_BYTES, StaleDecision, check_decision
from methods.review.faults import EditFault
from resources.review.clock import stored_time
from resources.review.locks import ANY_DRAFT, DecidedOften, DraftConflict, LockClaim, LockLost
from review.csrf import read_body
from review.pages.frame import say, store_of
from review.pages.queue import next_address
from review.security import NOT_SIGNED_IN, account_now, require, signed_in

Json = dict[str, Any]


def _post(answer: Callable[[Request, Json], Json]) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint from a function that maps a JSON object to a JSON object."""

    @require("annotator")
    async def endpoint(request: Request) -> Response:
        try:
            return JSONResponse(await run_in_threadpool(answer, request, await _body(request)))
        except LockLost:
            why = await run_in_threadpool(_why_lost, request)
            raise HTTPException(409, say(request, why)) from None
        except StaleDecision:
            raise HTTPException(409, say(request, "work.changed_meanwhile")) from None
        except DecidedOften:
            raise HTTPException(409, say(request, "work.often")) from None
        except DraftConflict:
            # The page asks the person which of the two drafts to keep.
            return JSONResponse({"error": say(request, "work.other_draft"), "other": True}, 409)
        except EditFault as fault:
            # The page scrolls to the invalid part.
            message = fault.text(say(request, fault.sentence))
            return JSONResponse({"error": message, "path": fault.path}, 422)
        except UnicodeEncodeError:
            # No page of the app sends such JSON, or values of a wrong type.
            raise HTTPException(422, "The text has lone surrogates: remove them.") from None
        except ValueError as error:
            raise HTTPException(422, str(error)) from None

    return endpoint


def _why_lost(request: Request) -> str:
    """Return the name of the sentence that says why the person has lost the lock."""
    account = signed_in(request)
    decided = store_of(request).decisions([request.path_params["item_id"]])
    has_decided = any(each.reviewer == account.name for each in decided)
    return "work.decided" if has_decided else "work.lost"


@_post
def save_draft(request: Request, body: Json) -> Json:
    """Store the person's draft."""
    if not isinstance(body.get("draft"), dict):
        raise ValueError("draft must be a JSON object.")
    version = store_of(request).save_draft(_claim(request, body), body["draft"], _based_on(body))
    return {"saved": True, "version": version}


@_post
def renew_lock(request: Request, body: Json) -> Json:
    """Extend the lock."""
    return {"locked": store_of(request).renew_lock(_claim(request, body))}


@_post
def unlock(request: Request, body: Json) -> Json:
    """Release the lock without a decision."""
    store_of(request).unlock(_claim(request, body))
    return {"locked": False}


@_post
def decide(request: Request, body: Json) -> Json:
    """Store a decision and lock the next item, of the same kind if there is one."""
    store = store_of(request)
    account = signed_in(request)
    item_id = request.path_params["item_id"]
    queued, state = store.item(item_id), store.state(item_id)
    if queued is None or state is None:
        raise HTTPException(404, say(request, "item.missing"))
    stated = {
        name: body.get(name)
        for name in ("content_hash", "round", "verdict", "edits", "reason", "note", "seconds")
    }
    record = {
        **stated,
        "item_id": item_id,
        "reviewer": account.name,
        "decided_at": stored_time(store.time()),
    }
    decision = check_decision(record, state.item, queued["content"])
    event_id = store.decide(str(body.get("token")), decision, _based_on(body))
    next_page = next_address(store, account, state.item["kind"])
    if not next_page.startswith("/items/"):
        next_page = next_address(store, account, None)
    return {"event_id": event_id, "next": next_page}


def _claim(request: Request, body: Json) -> LockClaim:
    """Make the claim to a lock: token of the body, item of the address, and signed-in person."""
    account = signed_in(request)
    return LockClaim(str(body.get("token")), request.path_params["item_id"], account.name)


def _based_on(body: Json) -> str | None:
    """Return the version of the draft that the page has; ANY_DRAFT if the body has none."""
    version = body.get("based_on", ANY_DRAFT)
    return None if version is None else str(version)


async def _body(request: Request) -> Json:
    received = await read_body(request, MOST_BYTES, "The request is too long.")
    try:
        body = from_json(received)
    except ValueError:
        raise HTTPException(400, "The request is not JSON.") from None
    if not isinstance(body, dict):
        raise HTTPException(400, "The request is not a JSON object.")
    if await account_now(request) is None:
        raise HTTPException(401, NOT_SIGNED_IN)
    return body
