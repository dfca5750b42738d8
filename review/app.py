"""The review app, an ASGI application (Starlette): its routes and middleware.

The pages are in `review/pages/`. The app reads the review store and the image store, and never opens
the warehouse.
"""

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from resources.web.ports import REVIEW_VARIABLE
from resources.web.request_guard import RequestGuard
from review.pages import accounts as account_pages
from review.pages import changes, items, lead, queue, work
from review.pages.frame import STATIC, choose_language, refuse, version
from review.proxy import SignInHeader
from review.security import Security


class _ImmutableFiles(StaticFiles):
    """Static files that browsers cache permanently, since their address changes with their content."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def create_app(
    store: ReviewStore,
    accounts: Accounts,
    images: ImageStore,
    proxy: SignInHeader | None = None,
) -> Starlette:
    """Create the review app.

    Args:
        store: The review store.
        accounts: The accounts.
        images: The images.
        proxy: The header by which a proxy signs people in; None for sign-in by the app.
    """
    app = Starlette(
        routes=[
            Route("/", queue.queue),
            Route("/next", queue.next_item, methods=["POST"]),
            Route("/login", account_pages.login, methods=["GET", "POST"]),
            Route("/link/{token}", account_pages.link, methods=["GET", "POST"]),
            Route("/logout", account_pages.logout, methods=["POST"]),
            Route("/language/{language}", choose_language),
            Route("/accounts", account_pages.accounts, methods=["GET", "POST"]),
            Route("/lead", lead.lead),
            Route("/lead.json", lead.lead_json),
            Route("/lead.csv", lead.lead_csv),
            Route("/lead/assign", lead.assign, methods=["POST"]),
            Route("/lead/gold", lead.make_gold, methods=["POST"]),
            Route("/lead/release", lead.release, methods=["POST"]),
            Route("/items/{item_id}", items.item_page),
            Route("/items/{item_id}/draft", work.save_draft, methods=["POST"]),
            Route("/items/{item_id}/renew", work.renew_lock, methods=["POST"]),
            Route("/items/{item_id}/unlock", work.unlock, methods=["POST"]),
            Route("/items/{item_id}/decide", work.decide, methods=["POST"]),
            Route("/items/{item_id}/take-back", changes.take_back, methods=["POST"]),
            Route("/items/{item_id}/reopen", changes.reopen, methods=["POST"]),
            Route("/items/{item_id}/comments", changes.comment, methods=["POST"]),
            Route("/dump/{form}", changes.dump),
            Route("/history/{item_id}", items.history),
            Route("/images/{image_id}", items.image),
            Mount(f"/static/{version()}", _ImmutableFiles(directory=STATIC)),
        ],
        middleware=[
            Middleware(RequestGuard, variable=REVIEW_VARIABLE),
            Middleware(Security, accounts=accounts, refuse=refuse, proxy=proxy),
        ],
        exception_handlers={HTTPException: refuse},  # type: ignore[dict-item]
    )
    app.state.store, app.state.accounts, app.state.images = store, accounts, images
    app.state.figures = lead.LeadFigures(store)
    return app
