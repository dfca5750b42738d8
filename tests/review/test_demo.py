"""The command `demo`: what its data has, and links that sign in."""

import re

from assets.common.tables import rows_to_arrow
from dagster_project.cli import main as loom
from methods.ids import canonical_json, content_id
from resources.files.home import warehouse_path
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from review import commands


def test_the_demo_says_what_it_needs(loom_home, capsys):
    loom_home.mkdir()
    assert loom(["review", "demo"]) == 2
    assert capsys.readouterr().err == "There is nothing to review yet. Run `vlm-loom demo` first.\n"


def test_the_demo_queues_its_items_alone_and_prints_links_that_sign_in(
    loom_home, capsys, monkeypatch
):
    content = {"original": "How many?", "rewrite": "Pray, how many?"}
    row = {
        "item_id": content_id("rewrite"),
        "kind": "rewrite",
        "set_id": "a set",
        "content": canonical_json(content),
        "content_hash": content_id(content),
        "context": None,
        "image_ids": [],
    }
    loom_home.mkdir()
    Warehouse(warehouse_path()).replace("review.queue", rows_to_arrow("review.queue", [row]))
    served: list[tuple[ReviewStore, Accounts, int]] = []
    monkeypatch.setattr(commands, "_serve", lambda *given: served.append(given) or 0)

    assert loom(["review", "demo", "--port", "8123"]) == 0
    assert loom(["review", "demo", "--port", "8123"]) == 0  # Again: nothing new, and new links.

    said = capsys.readouterr().out
    assert "The review queue has 1 new items and 0 changed ones." in said
    assert "The review queue has 0 new items and 0 changed ones." in said
    store, accounts, port = served[-1]
    assert {each.kind for each in store.progress()} == {"rewrite"}
    links = re.findall(r"http://127\.0\.0\.1:8123/link/([\w-]+)", said)
    assert port == 8123 and len(links) == 8
    invited = [accounts.invited(token) for token in links]
    # The first four are void since there are newer ones.
    assert [each and (each.name, each.role) for each in invited] == [None] * 4 + list(
        commands.PEOPLE
    )
