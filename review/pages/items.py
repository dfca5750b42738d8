"""One item: what it shows to whom, and its history."""

from typing import Any, cast
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from methods.ingest.image_check import EXTENSION_OF
from methods.review.decisions import QueueItem
from methods.review.kinds import KINDS
from methods.review.process import Course
from resources.images.store import ImageNotStored, ImageStore
from resources.review.accounts import Account
from resources.review.claims import Claim
from resources.review.store import ReviewStore
from review.pages.frame import say, show
from review.pages.revisions import revisions
from review.security import current_account, require

_MIME_OF = {extension: mime for mime, extension in EXTENSION_OF.items()}
_WORK_TEXTS = ("saving", "saved", "not_saved", "lost", "offline", "choose", "reason", "other")


@require("annotator")
def item_page(request: Request) -> Response:
    """The item, claimed for who opens it if they may decide on it, else to read."""
    store: ReviewStore = request.app.state.store
    account = cast(Account, current_account(request))
    item_id = request.path_params["item_id"]
    if store.item(item_id) is None:
        raise HTTPException(404, say(request, "item.missing"))
    claim = store.claim(account.name, account.role, item_id=item_id)
    # After the claim, so that what is shown is what it holds.
    course = cast(Course, store.course(item_id))
    item, context = course.item, course.item.get("context", {})
    draft = (store.draft(claim.token) or {}) if claim else {}
    shown = _drafted(draft.get("content"), item)
    seen = store.visible_to(item_id, account.name, account.role)
    counted = {each.event_id for each in course.counted}
    offered = cast(QueueItem, store.item(item_id))
    return show(
        request,
        "item.html",
        item=item,
        content=shown,
        editable=claim is not None,
        claim=claim,
        round=claim.round if claim else None,
        status=course.stage.status,
        why_not="item.not_yours",
        context=context,
        captions=_each(context.get("captions"), item),
        page_urls=[
            url if urlsplit(url).scheme in ("http", "https") else ""
            for url in _each(context.get("page_urls") or item.get("page_urls"), item)
        ],
        given=[each for each in revisions(offered, seen) if each.decision.event_id in counted],
        agreed=_agreement(course),
        draft=draft,
        data=_data(request, account, claim, course, shown, draft) if claim else None,
    )


@require("annotator")
def history(request: Request) -> Response:
    """Every decision on the item that this person may see, with what each changed."""
    store: ReviewStore = request.app.state.store
    account = cast(Account, current_account(request))
    item = store.item(request.path_params["item_id"])
    if item is None:
        raise HTTPException(404, say(request, "item.missing"))
    course = cast(Course, store.course(item["item_id"]))
    return show(
        request,
        "history.html",
        item=item,
        status=course.stage.status,
        revisions=revisions(item, store.visible_to(item["item_id"], account.name, account.role)),
        texts=KINDS[item["kind"]].texts(item["content"]),
    )


@require("annotator")
def image(request: Request) -> Response:
    """An image of the store. Its address is its content, so browsers keep it for good."""
    images: ImageStore = request.app.state.images
    try:
        path = images.path(request.path_params["image_id"])
    except ImageNotStored:
        raise HTTPException(404, "There is no such image.") from None
    return FileResponse(
        path,
        media_type=_MIME_OF[path.suffix[1:]],
        headers={"cache-control": "private, max-age=31536000, immutable"},
    )


def _data(
    request: Request,
    account: Account,
    claim: Claim,
    course: Course,
    shown: dict[str, Any],
    draft: dict[str, Any],
) -> dict[str, Any]:
    """What the page's script works with."""
    item = course.item
    return {
        "token": claim.token,
        "account": account.name,
        "item_id": item["item_id"],
        "content_hash": claim.content_hash,
        "round": claim.round,
        "content": item["content"],
        "shown": shown,
        "verdict": draft.get("verdict"),
        "seconds": draft.get("seconds") or 0,
        # What was rejected is mended or given up, and never taken as it is.
        "needs_edit": KINDS[item["kind"]].needs_edit(item["content"])
        or course.stage.status in ("to_rework", "rejected"),
        "urls": {
            name: f"/items/{item['item_id']}/{name}"
            for name in ("draft", "renew", "decide", "let_go")
        },
        "texts": {name: say(request, f"work.{name}") for name in _WORK_TEXTS},
    }


def _drafted(content: object, item: QueueItem) -> dict[str, Any]:
    """The draft's content where it has the item's form, else the item's."""
    if isinstance(content, dict) and content.keys() == item["content"].keys():
        try:
            KINDS[item["kind"]].texts(content)
        except (TypeError, KeyError, AttributeError, IndexError):
            return item["content"]
        return content
    return item["content"]


def _each(values: object, item: QueueItem) -> list[str]:
    """One text for each image; empty ones where there is none."""
    given = [value or "" for value in values] if isinstance(values, list) else []
    return (given + [""] * len(item["image_ids"]))[: len(item["image_ids"])]


def _agreement(course: Course) -> str | None:
    """What the expert is told of how round 1 ended."""
    if course.stage.status != "round_2":
        return None
    said = [(each.verdict, each.edits) for each in course.first]
    return "item.agreed" if all(each == said[0] for each in said) else "item.disagreed"
