"""Endpoints to take back a decision, reopen an item, comment on it, and download all review data."""

from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from methods.review import ROUNDS
from resources.review.accounts import AccountError, Accounts
from resources.review.comments import CommentError
from resources.review.revocations import RevocationError
from review.dump import dump_file
from review.dump_tables import FORMS
from review.pages.frame import MOST_DIGITS, is_number, say, shown_item, store_of, with_form
from review.security import require, signed_in


@require("annotator")
@with_form
def take_back(request: Request, form: Mapping[str, str]) -> Response:
    """Take back one's own decision, and go to the item, where the decision is a draft."""
    event_id = form.get("event_id", "")
    if not is_number(event_id):
        raise HTTPException(400, f"event_id is a number of at most {MOST_DIGITS} digits.")
    store, name = store_of(request), signed_in(request).name
    act = partial(store.take_back, event_id=int(event_id), person=name)
    return _changed(request, "/items/{}", "item.taken_back", act)


@require("admin")
@with_form
def reopen(request: Request, form: Mapping[str, str]) -> Response:
    """Revoke an item's decisions with a reason, so that it is decided again."""
    round_, reason = form.get("round", ""), form.get("reason", "")
    if round_ not in map(str, ROUNDS):
        raise HTTPException(400, "The round is 1 or 2.")
    store, name = store_of(request), signed_in(request).name
    act = partial(store.reopen, person=name, round=int(round_), reason=reason)
    # Not to the page of the item, which would lock it for the administrator.
    return _changed(request, "/history/{}", "item.reopened", act)


def _changed(request: Request, page: str, notice: str, act: Callable[[str], object]) -> Response:
    """Run the action on the item, and redirect to the page with a notice of the change."""
    item_id = request.path_params["item_id"]
    state = store_of(request).state(item_id)
    if state is None:
        raise HTTPException(404, say(request, "item.missing"))
    try:
        act(item_id)
    except RevocationError as error:
        raise HTTPException(409, say(request, f"undo.{error.why}")) from None
    query = urlencode({"notice": notice, "was": state.status.name})
    return RedirectResponse(f"{page.format(item_id)}?{query}", 303)


@require("annotator")
@with_form
def comment(request: Request, form: Mapping[str, str]) -> Response:
    """Store a comment on an item, to one person or to everybody who may read it."""
    accounts: Accounts = request.app.state.accounts
    text, addressee = form.get("text", ""), form.get("addressee", "")
    item_id = shown_item(request)["item_id"]
    try:
        to = accounts.stored_name(addressee) if addressee else None
        store_of(request).comment(item_id, signed_in(request).name, text, to)
    except AccountError:
        raise HTTPException(422, say(request, "comment.nobody")) from None
    except CommentError as error:
        message = say(request, f"comment.{error.why}").format(n=len(text.strip()))
        raise HTTPException(422, message) from None
    return RedirectResponse(f"/items/{item_id}#comments", 303)


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
