"""The command `demo`: samples of the kinds that its data lacks, and links that sign in."""

import re
from pathlib import Path

import pytest

from assets.common.tables import rows_to_arrow
from dagster_project.cli import main as loom
from methods.ids import canonical_json, content_id
from methods.review.kinds import KINDS
from resources.home import warehouse_path
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from review import commands
from review.samples import MARK, samples


def test_samples_are_valid_items_marked_as_samples() -> None:
    made = samples(["a" * 64, "b" * 64, "c" * 64], ["dialogue", "rewrite"])
    assert {each["kind"] for each in made} == KINDS.keys() - {"dialogue", "rewrite"}
    for each in made:
        assert tuple(each["content"]) == KINDS[each["kind"]].keys
        assert each["context"]["why"][0] == MARK
        assert KINDS[each["kind"]].texts(each["content"])


def test_the_demo_says_what_it_needs(loom_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loom_home.mkdir()
    assert loom(["review", "demo"]) == 2
    assert capsys.readouterr().err == "There is nothing to review yet: run `vlm-loom demo` first.\n"


def test_the_demo_queues_its_items_and_samples_and_prints_links_that_sign_in(
    loom_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert "The review queue has 9 new items and 0 changed ones." in said  # 1 and 7 samples.
    assert "The review queue has 0 new items and 0 changed ones." in said
    store, accounts, port = served[-1]
    assert {each.kind for each in store.progress()} == KINDS.keys() - {"dialogue"}
    links = re.findall(r"http://127\.0\.0\.1:8123/link/([\w-]+)", said)
    assert port == 8123 and len(links) == 6
    invited = [accounts.invited(token) for token in links]
    # The first three are void since there are newer ones.
    assert [each and (each.name, each.role) for each in invited] == [None] * 3 + list(
        commands.PEOPLE
    )
