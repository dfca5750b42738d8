"""Endpoints to take back a decision, reopen an item, comment on it, and download all review data."""

from collections.abc import Callable
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from methods.review import ROUNDS
from resources.review.accounts import Account, AccountError, Accounts
from resources.review.comments import CommentError
from resources.review.revocations import RevocationError
from resources.review.store import ReviewStore
from review.dump import dump_file
from review.dump_tables import FORMS
from review.pages.frame import MOST_DIGITS, is_number, say, shown_item, store_of
from review.security import require, signed_in


@require("annotator")
async def take_back(request: Request) -> Response:
    """Take back one's own decision, and go to the item, where the decision is a draft."""
    form = await request.form()
    event_id = str(form.get("event_id", ""))
    if not is_number(event_id):
        raise HTTPException(400, f"event_id is a number of at most {MOST_DIGITS} digits.")

    def act(store: ReviewStore, item_id: str, account: Account) -> None:
        store.take_back(item_id, int(event_id), account.name)

    return await _changed(request, "/items/{}", "item.taken_back", act)


@require("admin")
async def reopen(request: Request) -> Response:
    """Revoke an item's decisions with a reason, so that it is decided again."""
    form = await request.form()
    round_, reason = str(form.get("round", "")), str(form.get("reason", ""))
    if round_ not in {str(each) for each in ROUNDS}:
        raise HTTPException(400, "The round is 1 or 2.")

    def act(store: ReviewStore, item_id: str, account: Account) -> None:
        store.reopen(item_id, account.name, int(round_), reason)

    # Not to the page of the item, which would lock it for the administrator.
    return await _changed(request, "/history/{}", "item.reopened", act)


async def _changed(
    request: Request, page: str, notice: str, act: Callable[[ReviewStore, str, Account], None]
) -> Response:
    """Run the action on the item, and redirect to the page with a notice of the change."""
    store = store_of(request)
    account = signed_in(request)
    item_id = request.path_params["item_id"]

    def change() -> Response:
        state = store.state(item_id)
        if state is None:
            raise HTTPException(404, say(request, "item.missing"))
        try:
            act(store, item_id, account)
        except RevocationError as error:
            raise HTTPException(409, say(request, f"undo.{error.why}")) from None
        query = urlencode({"notice": notice, "was": state.status.name})
        return RedirectResponse(f"{page.format(item_id)}?{query}", 303)

    return await run_in_threadpool(change)


@require("annotator")
async def comment(request: Request) -> Response:
    """Store a comment on an item, to one person or to everybody who may read it."""
    store = store_of(request)
    accounts: Accounts = request.app.state.accounts
    account, item_id = signed_in(request), request.path_params["item_id"]
    form = await request.form()
    text, addressee = str(form.get("text", "")), str(form.get("addressee", ""))

    def act() -> Response:
        shown_item(request)
        try:
            to = accounts.stored_name(addressee) if addressee else None
            store.comment(item_id, account.name, text, to)
        except AccountError:
            raise HTTPException(422, say(request, "comment.nobody")) from None
        except CommentError:
            message = say(request, "comment.length").format(n=len(text.strip()))
            raise HTTPException(422, message) from None
        return RedirectResponse(f"/items/{item_id}#comments", 303)

    return await run_in_threadpool(act)


@require("admin")
def dump(request: Request) -> Response:
    """Download a file with all decisions, revisions, comments, effort and gold items."""
    form = request.path_params["form"]
    if form not in FORMS:
        raise HTTPException(404, f"The file has one of the forms {', '.join(FORMS)}.")
    return Response(
        dump_file(request.app.state.store, form),
        media_type="application/zip",
        headers={"content-disposition": f'attachment; filename="review-{form}.zip"'},
    )
