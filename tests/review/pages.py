"""The review app as its tests run it: hand-written items, a store with people, a real server."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

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
    server = uvicorn.Server(uvicorn.Config(app, port=0, **options))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline and thread.is_alive()
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    site.address = f"http://127.0.0.1:{port}"
    try:
        yield site
    finally:
        server.should_exit = True
        server.force_exit = True
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
    turns = [
        {"question": question, "answer": answer, "question_id": f"q{number}"}
        for number, (question, answer) in enumerate(
            texts
            or [
                (f"What is in <image-1>, {name}?", "A red ground."),
                ("And in <image-2>?", "A blue one."),
            ]
        )
    ]
    return item(name, "dialogue", {"image_ids": image_ids, "turns": turns}, **more)
