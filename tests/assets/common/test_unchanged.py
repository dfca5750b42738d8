"""Assets that are kept as they are: what people decided counts as something that was read."""

from pathlib import Path

import dagster as dg

from assets.common.unchanged import DECIDED, has_decisions_since
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import queue, work


def made(store: ReviewStore) -> dg.AssetMaterialization:
    return dg.AssetMaterialization(["review", "approved"], metadata={DECIDED: store.decided()})


def test_a_decision_and_a_changed_item_with_one_are_news_and_all_else_is_not(
    tmp_path: Path,
) -> None:
    store = ReviewStore(tmp_path / "review.sqlite")
    store.update_queue(queue(3))
    last = made(store)
    lock = store.lock_item("ann", "annotator", item_id="item-0")
    assert lock is not None
    store.save_draft(lock.claim, {"note": "so far"})
    store.update_queue(queue(4))
    assert not has_decisions_since(last, store.decided())
    work(store, "ann", item_id="item-0")
    assert has_decisions_since(last, store.decided())
    last = made(store)
    store.update_queue(queue(4, version=1))
    assert has_decisions_since(last, store.decided()), "the decision is on another content"
    store.close()


def test_other_rules_are_news(tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "review.sqlite")
    last = made(store)
    store.close()
    (tmp_path / "review.yaml").write_text("default: {annotators: 2}\n")
    store = ReviewStore(tmp_path / "review.sqlite")
    assert has_decisions_since(last, store.decided())
    store.close()


def test_what_an_earlier_version_made_recorded_no_decisions_and_is_made_again(
    tmp_path: Path,
) -> None:
    store = ReviewStore(tmp_path / "review.sqlite")
    assert has_decisions_since(dg.AssetMaterialization(["review", "approved"]), store.decided())
    store.close()
