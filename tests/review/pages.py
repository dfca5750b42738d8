"""The review app as its tests run it: a store with people, items, a real server, and use over HTTP."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from selectolax.lexbor import LexborHTMLParser
from starlette.testclient import TestClient

from methods.ids import content_id
from methods.review.decisions import QueueItem
from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from review.app import create_app
from review.proxy import SignInHeader
from review.server import OPTIONS
from tests.doubles.one_colour import one_colour
from tests.resources.review.account_clock import CHEAP
from tests.resources.review.review_queue import item_with

PEOPLE = {"anna": "annotator", "ben": "annotator", "eva": "expert", "ada": "admin"}


@dataclass
class Site:
    """A store, its people and its pictures; `address` where it is served."""

    store: ReviewStore
    accounts: Accounts
    images: ImageStore
    address: str = ""

    def link(self, name: str) -> str:
        return f"{self.address}/link/{self.accounts.link(name)}"


def make_site(home: Path, rules: str = "") -> Site:
    home.mkdir(parents=True, exist_ok=True)
    if rules:
        (home / "review.yaml").write_text(rules)
    store = ReviewStore(home / "review.sqlite")
    accounts = Accounts(home / "review.sqlite", hasher=CHEAP)
    for name, role in PEOPLE.items():
        accounts.add(name, role)
    return Site(store, accounts, ImageStore(home / "images"))


@contextmanager
def serving(
    site: Site, proxy: SignInHeader | None = None, options: dict[str, Any] = OPTIONS
) -> Iterator[Site]:
    """The site on a free port of loopback, in a thread."""
    app = create_app(site.store, site.accounts, site.images, proxy)
    server = uvicorn.Server(uvicorn.Config(app, **options))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        site.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            yield site
        finally:
            server.should_exit = server.force_exit = True
            thread.join(10)
            # Playwright keeps the frames of a test, and with them what the test has open.
            site.store.close()
            site.accounts.close()


def picture(site: Site, colour: str) -> str:
    """A stored picture's id."""
    return site.images.put(one_colour(colour, (320, 200))).image_id


def item(name: str, kind: str, content: dict[str, Any], **more: Any) -> QueueItem:
    return item_with(content, kind, content_id(name), **more)


def dialogue(site: Site, name: str = "one", *texts: tuple[str, str], **more: Any) -> QueueItem:
    """Two pictures and, unless told, two turns that name them."""
    image_ids = [picture(site, "red"), picture(site, "blue")]
    first = (f"What is in <image-1>, {name}?", "A red ground.")
    second = ("And in <image-2>?", "A blue one.")
    turns = [
        {"question": question, "answer": answer, "question_id": f"q{number}"}
        for number, (question, answer) in enumerate(texts or (first, second))
    ]
    return item(name, "dialogue", {"image_ids": image_ids, "turns": turns}, **more)


def attribute(html: str, selector: str, name: str) -> str | None:
    """An attribute of the first element that matches; None without such an element."""
    found = LexborHTMLParser(html).css_first(selector)
    return None if found is None else found.attributes[name]


def csrf_token_in(html: str) -> str:
    """The CSRF token of a page's first form."""
    token = attribute(html, "input[name=csrf_token]", "value")
    assert token, html
    return token


def sign_in_address(html: str) -> str | None:
    """Where the sign-in form is sent; None without one."""
    return attribute(html, "form[action^='/login']", "action")


def script_data(html: str) -> dict[str, Any] | None:
    """The data that an item's page gives to its script; None where the item is only shown."""
    block = LexborHTMLParser(html).css_first("script#review-data")
    return None if block is None else json.loads(block.text())


def has_inline_code(html: str) -> bool:
    """Whether the page has a script, a style or an event handler inside itself."""
    page = LexborHTMLParser(html)
    scripts = [each.attributes for each in page.css("script")]
    return (
        not all("src" in each or each.get("type") == "application/json" for each in scripts)
        or bool(page.css("style, [style]"))
        or any(name.startswith("on") for each in page.css("*") for name in each.attributes)
    )


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
