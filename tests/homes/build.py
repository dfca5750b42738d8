"""The recipe of the homes that are kept here, one of each version: `python -m tests.homes.build`.

It makes `<version>.tar.xz` of the version that is installed, on the sample corpus and the mock
models, and takes two minutes. A home that is there already is never made anew.
"""

import json
import sys
import tarfile
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dagster as dg
import yaml

from methods.review import QueueItem
from resources.embedding.embedder import Embedder
from resources.images.index import FetchedImage, ImageIndex
from resources.llm.ledger.batch_state import BatchItem, BatchState, FailedRequest
from resources.review.accounts import Accounts
from resources.upkeep.backup import back_up
from tests.assets.corpus import two_sided_corpus
from tests.assets.world import SMALL_SETS, WITHOUT_PICTURES, Result, World, sentence
from tests.doubles.garbling_proxy import ProxyServer
from tests.doubles.serving import serving
from tests.homes.kept import HOMES
from tests.resources.llm.entries import charge
from tests.resources.review.review_queue import decision

SETS = {
    **SMALL_SETS,
    "cluster__image_sets": {
        "config": {"benchmark_sizes": [3], "instruction_sizes": [2]}
        | {"benchmark_sets": 2, "instruction_sets": 1}
    },
}
SCORED = {"evaluate__score_queue": {"config": {"n_answers": 3}}}
KEPT = ("warehouse.duckdb", "*.sqlite", "review.yaml", "images", "releases")
"""What is in the archive of a home; the rest can be made again."""


def build(world: World) -> None:
    """Two releases of each name, reviewed and scored by people, with a row for most tables."""
    world.home.mkdir(parents=True)
    rules = {"default": {"annotators": 2, "expert": "disagreement"}}
    (world.home / "review.yaml").write_text(yaml.safe_dump(rules))
    _done(world.ingest())
    _done(world.ingest("others"))
    _done(world.run("cluster", SETS, assets=WITHOUT_PICTURES))
    _done(world.generate())
    _done(world.release("none"))
    _done(world.evaluate("careful"))
    _review(world)
    _done(world.release("all"))
    _done(world.evaluate())
    _done(world.leaderboard(SCORED))
    _score(world)
    _done(world.leaderboard(SCORED))
    _add_accounts(world)
    _add_to_ledger(world)
    _add_addresses(world)


def _done(result: Result) -> None:
    assert result.success, sentence(result)


def _decide(world: World, item: QueueItem, reviewer: str, said: str, **more: Any) -> None:
    on = {"item_id": item["item_id"], "content_hash": item["content_hash"]}
    made = decision(0, reviewer=reviewer, verdict=said, seconds=30.0)
    world.review_store.append([replace(made, **on, **more)])


def _review(world: World) -> None:
    """Two annotators agree on nearly all; an expert edits a dialogue that they do not agree on."""
    dialogues, rewrites = (world.review_store.items([kind]) for kind in ("dialogue", "rewrite"))
    (first,) = [each for each in dialogues if len(each["image_ids"]) == 3][:1]
    for each in (*dialogues, *rewrites[:-1]):
        _decide(world, each, "alice", "accept")
        if each in (first, rewrites[0]):
            _decide(world, each, "bob", "reject", reason="dull")
        else:
            _decide(world, each, "bob", "accept")
    content = json.loads(json.dumps(first["content"]))
    content["turns"][-1]["answer"] = "I have looked twice at <image-1>."
    _decide(world, first, "carol", "edit", round=2, edits=content)
    _decide(world, rewrites[-1], "alice", "skip")


def _score(world: World) -> None:
    for number, each in enumerate(world.review_store.items(["score"])):
        for reviewer, more in (("alice", 0), ("bob", number % 2)):
            scores = dict.fromkeys(each["content"]["dimensions"], 5 + more)
            edits = {**each["content"], "scores": scores}
            _decide(world, each, reviewer, "edit", edits=edits)


def _add_accounts(world: World) -> None:
    """Three people, one of them with a draft on an item that she has locked."""
    accounts = Accounts(world.review_store.path)
    for name, role in (("alice", "annotator"), ("bob", "annotator"), ("carol", "expert")):
        accounts.add(name, role, f"the password of {name}")
    lock = world.review_store.lock_item("bob", "annotator")
    assert lock is not None
    world.review_store.save_draft(lock.claim, {"note": "not yet"})
    accounts.close()


def _add_to_ledger(world: World) -> None:
    """A charge without an answer, a batch that expired, and one that is under way."""
    ledger = world.ledger
    ledger.add([charge(0)])
    state = BatchState(ledger)
    for batch in ("expired", "under-way"):
        of = (batch, 1, "waiting", None, None, "s", "r", "p@1")
        items = [BatchItem(f"{batch}-{n}", *of, {"n": n}) for n in range(2)]
        state.add_batch(batch, "careful", items)
        state.mark_submitted(batch, f"remote-{batch}")
        state.wait("run", {batch})
    failed = FailedRequest("", "expired", "It took over a day.", True)
    state.mark_ended("expired", "expired", failed)
    ledger.close()


def _add_addresses(world: World) -> None:
    """The corpus has its images beside it, so none was fetched."""
    index = ImageIndex(world.home / "image_index.sqlite")
    images = world.rows("SELECT DISTINCT image_id FROM ingest.images ORDER BY image_id")
    addresses = ((f"https://pictures.example/{n}.png", each, n) for n, each in enumerate(images))
    index.record([FetchedImage(url, row["image_id"], {"n": n}) for url, row, n in addresses])
    index.close()


def main() -> int:
    """Build the home of this version and pack it."""
    archive = HOMES / f"{version('vlm-loom')}.tar.xz"
    if archive.exists():
        print(f"{archive} is there already.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="vlm-loom-home-") as name, ExitStack() as stack:
        root = Path(name)
        proxies = stack.enter_context(serving(ProxyServer()))
        instance = stack.enter_context(dg.DagsterInstance.ephemeral())
        corpus = two_sided_corpus(root / "corpus")
        world = World(root, corpus, proxies.proxy(), Embedder(), instance)
        build(world)
        # What stands in a store's log is in a backup's file.
        back_up(world.home, root / "backup")
        with tarfile.open(archive, "w:xz") as packed:
            for path in sorted(each for like in KEPT for each in (root / "backup").glob(like)):
                packed.add(path, f"home/{path.name}")
    print(f"{archive}: {archive.stat().st_size / 1024:.0f} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
