"""The HTML page of an item, the page of its history, and its images."""

from typing import Any, cast, get_args

from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from methods.ingest.image_check import EXTENSION_OF
from methods.quality.outcome import OF_ANSWER, OF_QUESTION
from methods.review.decisions import QueueItem
from methods.review.kinds import KINDS
from methods.review.process import ROUND_OF_ROLE, ReviewState, Status
from methods.web_address import is_web_address
from resources.images.store import ImageNotStored, ImageStore
from resources.review.accounts import Account
from resources.review.locks import Lock
from review.pages.frame import say, sees_queue, show, shown_item, store_of
from review.pages.revisions import ContentVersion, between, revisions, versions_of
from review.security import require, signed_in

_MIME_OF = {extension: mime for mime, extension in EXTENSION_OF.items()}
_CONCERNS = dict.fromkeys(OF_QUESTION, "question") | dict.fromkeys(OF_ANSWER, "answer")
"""Check -> the text of a turn next to which its finding is shown; other findings are above the turn."""
_WORK_TEXTS = (
    *("saving", "saved", "not_saved", "lost", "offline", "choose", "reason", "other"),
    *("other_draft", "overwrite"),
)
ROUND_OF_EXPERTS = ROUND_OF_ROLE["expert"]
VERSION_KEYS = (",", ".", ";")
"""Keyboard shortcuts that choose the first, second or third version."""
FILLED = ("score", "extraction", "pair")
"""Kinds of items for which people enter values; the verdict needs these values."""
NOTICES = ("item.taken_back", "item.reopened")
SIDES = {640, 1024}
"""Display sizes of images: length of the longer side in pixels."""
_SCALING = CapacityLimiter(2)
"""An image of 50 million pixels takes 0.7 GB while it is made smaller: two at a time."""


@require("annotator")
def item_page(request: Request) -> Response:
    """Show an item: locked for the reader if they may decide on it, else read-only."""
    store = store_of(request)
    account = signed_in(request)
    images: ImageStore = request.app.state.images
    people: list[Account] = request.app.state.accounts.all()
    item_id = request.path_params["item_id"]
    # A gold item that is not in work cannot be opened by its address, so no other item can.
    if not sees_queue(request) and not store.is_in_work(item_id, account.name):
        return RedirectResponse(f"/history/{item_id}", 303)
    if store.item(item_id) is None:
        raise HTTPException(404, say(request, "item.missing"))
    lock = store.lock_item(account.name, account.role, item_id=item_id)
    # Read the state after locking, so that the page shows the locked content.
    state = cast(ReviewState, store.state(item_id))
    item, context = state.item, state.item.get("context", {})
    draft, version = store.draft(lock.claim) if lock else (None, None)
    draft = draft or {}
    shown = _with_draft(draft.get("content"), item)
    decisions = store.visible_decisions(item_id, account.name, account.role)
    counted = {decision.event_id for decision in state.counted}
    queued = cast(QueueItem, store.item(item_id))
    versions = versions_of(queued, state) if lock and lock.round == ROUND_OF_EXPERTS else []
    return show(
        request,
        "item.html",
        item=item,
        content=shown,
        editable=lock is not None,
        lock=lock,
        round=lock.round if lock else None,
        status=state.status.name,
        why_not=None if lock else store.why_not(account.name, account.role, item_id),
        context=context,
        concerns=_CONCERNS,
        captions=_text_per_image(context.get("captions"), item),
        page_urls=[
            url if is_web_address(url) else ""
            for url in _text_per_image(context.get("page_urls") or item.get("page_urls"), item)
        ],
        earlier=[
            revision
            for revision in revisions(queued, decisions)
            if revision.decision.event_id in counted
        ],
        agreed=_agreement(state),
        versions=versions,
        version_keys=VERSION_KEYS,
        between=between(item["kind"], versions),
        draft=draft,
        data=_data(request, account, lock, state, shown, draft, version, versions)
        if lock
        else None,
        missing=[not images.has(image_id) for image_id in item["image_ids"]],
        side=max(SIDES) if len(item["image_ids"]) == 1 else min(SIDES),
        undo=store.last_decision(account.name),
        **_changed(request),
        comments=store.visible_comments(item_id, account.name, account.role),
        people=_others(people, account),
    )


@require("annotator")
def history(request: Request) -> Response:
    """Show every decision on the item that the reader may see, with its changes."""
    store = store_of(request)
    account = signed_in(request)
    people: list[Account] = request.app.state.accounts.all()
    item = shown_item(request)
    item_id = item["item_id"]
    state = cast(ReviewState, store.state(item_id))
    decisions = store.visible_decisions(item_id, account.name, account.role, revoked=True)
    comments = store.visible_comments(item_id, account.name, account.role)
    sees_all = sees_queue(request)
    if not sees_all:
        decisions = [each for each in decisions if each.reviewer == account.name]
        comments = [each for each in comments if account.name in (each.author, each.addressee)]
    in_force = store.decisions([item_id])
    return show(
        request,
        "history.html",
        item=item,
        status=state.status.name if sees_all else None,
        revisions=revisions(item, decisions),
        revocations=store.revocations(item_id),
        own=[each.event_id for each in store.may_take_back(item_id, account.name)],
        may_reopen=account.may("admin") and any(each.verdict != "skip" for each in in_force),
        expert=state.expert_decision,
        comments=comments,
        people=_others(people, account),
        **_changed(request),
        texts=KINDS[item["kind"]].texts(item["content"]),
    )


@require("annotator")
async def image(request: Request) -> Response:
    """Serve an image of the store, unchanged or, with `side`, in a display size.

    Its address is its content hash, so browsers can cache it forever.
    """
    return await to_thread.run_sync(_image, request, limiter=_SCALING)


def _image(request: Request) -> Response:
    images: ImageStore = request.app.state.images
    image_id, side = request.path_params["image_id"], request.query_params.get("side")
    cached = {"cache-control": "private, max-age=31536000, immutable"}
    if side is not None and side not in map(str, SIDES):
        raise HTTPException(404, f"Images have the sides {', '.join(map(str, sorted(SIDES)))}.")
    try:
        path = images.path(image_id)
        if side is not None:
            smaller = images.thumbnail(image_id, int(side))
            # Serve a small file unchanged: re-encoded, it would be larger and of lower quality.
            if len(smaller) < path.stat().st_size:
                return Response(smaller, media_type="image/jpeg", headers=cached)
    except ImageNotStored:
        raise HTTPException(404, say(request, "item.missing_image")) from None
    return FileResponse(path, media_type=_MIME_OF[path.suffix[1:]], headers=cached)


def _others(people: list[Account], account: Account) -> list[str]:
    """Return the names of the people whom a person can write to."""
    return [each.name for each in people if not each.disabled and each.name != account.name]


def _changed(request: Request) -> dict[str, Any]:
    """Return the notice of the last action on the item, and the item's status before it."""
    parameters = request.query_params
    notice, earlier_status = parameters.get("notice"), parameters.get("was")
    return {
        "notice": notice if notice in NOTICES else None,
        "was": earlier_status if earlier_status in get_args(Status) else None,
    }


def _data(
    request: Request,
    account: Account,
    lock: Lock,
    state: ReviewState,
    shown: dict[str, Any],
    draft: dict[str, Any],
    version: str | None,
    versions: list[ContentVersion],
) -> dict[str, Any]:
    """Make the data for the script of the page."""
    item = state.item
    return {
        "token": lock.token,
        "account": account.name,
        "item_id": item["item_id"],
        "content_hash": lock.content_hash,
        "round": lock.round,
        "content": item["content"],
        "shown": shown,
        "verdict": draft.get("verdict"),
        "seconds": draft.get("seconds") or 0,
        "version": version,
        "versions": [{"content": each.content} for each in versions],
        # A rejected item must be edited or rejected again; it cannot be accepted unchanged.
        "needs_edit": KINDS[item["kind"]].needs_edit(item["content"])
        or state.status.name in ("to_rework", "rejected"),
        "urls": {
            name: f"/items/{item['item_id']}/{name}"
            for name in ("draft", "renew", "decide", "unlock")
        },
        "texts": {name: say(request, f"work.{name}") for name in _WORK_TEXTS}
        | {"fill": say(request, f"work.fill_{item['kind']}") if item["kind"] in FILLED else ""},
    }


def _with_draft(content: object, item: QueueItem) -> dict[str, Any]:
    """Return the item's content with the editable values of the draft, if the page can show them."""
    if not isinstance(content, dict) or content.keys() != item["content"].keys():
        return item["content"]
    kind = KINDS[item["kind"]]
    shown = item["content"] | {key: content[key] for key in kind.editable}
    try:
        texts = kind.texts(shown)
    except (TypeError, KeyError, AttributeError, IndexError):
        return item["content"]
    return shown if all(isinstance(text, str) for _, text in texts) else item["content"]


def _text_per_image(values: object, item: QueueItem) -> list[str]:
    """Return one text for each image; empty if there is none."""
    texts = [value or "" for value in values] if isinstance(values, list) else []
    return (texts + [""] * len(item["image_ids"]))[: len(item["image_ids"])]


def _agreement(state: ReviewState) -> str | None:
    """Return the name of the text that tells experts if the annotators agreed; None in other rounds."""
    if state.status.name != "round_2":
        return None
    return "item.disagreed" if state.is_disputed else "item.agreed"
