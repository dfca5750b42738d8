"""People who use the review app over HTTP, without a browser."""

from typing import Any

from starlette.testclient import TestClient

from review.app import create_app
from tests.review.html import csrf_token_in, script_data
from tests.review.pages import Site


def browser(site: Site) -> TestClient:
    app = create_app(site.store, site.accounts, site.images)
    return TestClient(app, "http://127.0.0.1", follow_redirects=False)


def signed_in(site: Site, name: str) -> TestClient:
    client = browser(site)
    link = f"/link/{site.accounts.link(name)}"
    answer = client.post(link, data={"csrf_token": csrf_token_in(client.get(link).text)})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    client.headers["x-csrf-token"] = csrf_token_in(client.get("/").text)
    return client


def opened(client: TestClient, item_id: str) -> dict[str, Any]:
    """What the page's script is given."""
    data = script_data(client.get(f"/items/{item_id}").text)
    assert data is not None, "the item is only shown to be read"
    return data


def decide(client: TestClient, data: dict[str, Any], verdict: str, **more: Any) -> Any:
    known = {name: data[name] for name in ("token", "content_hash", "round")}
    return client.post(data["urls"]["decide"], json={**known, "verdict": verdict, **more})
