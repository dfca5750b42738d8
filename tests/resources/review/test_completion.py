"""How far people are with each kind of items, and what changes a kind's fingerprint."""

from pathlib import Path

import pytest

from methods.review import QueueItem
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import item, queue, work


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    return ReviewStore(tmp_path / "review.sqlite")


def counts(store: ReviewStore) -> dict[str, tuple[int, int, int]]:
    """Kind -> (items, those that await people, decisions)."""
    return {each.kind: (each.n_items, each.n_open, each.n_decisions) for each in store.completion()}


def fingerprint(store: ReviewStore, kind: str = "rewrite") -> str:
    (found,) = [each.fingerprint for each in store.completion() if each.kind == kind]
    return found


@pytest.mark.files_alone
def test_a_kind_is_complete_when_none_of_its_items_awaits_anybody(store):
    store.update_queue([item(0), item(1), item(2, kind="reference")])
    work(store, "ann", item_id="item-0")
    work(store, "eve", "expert", item_id="item-0")
    work(store, "ann", item_id="item-1")

    # An item awaits one annotator, and then an expert.
    assert counts(store) == {"reference": (1, 1, 0), "rewrite": (2, 1, 3)}
    work(store, "eve", "expert", item_id="item-1")
    assert counts(store) == {"reference": (1, 1, 0), "rewrite": (2, 0, 4)}
    complete = fingerprint(store)
    last = store.last_decision("eve")
    assert last is not None and last.event_id is not None
    store.take_back("item-1", last.event_id, "eve")
    assert counts(store) == {"reference": (1, 1, 0), "rewrite": (2, 1, 3)}
    assert fingerprint(store) != complete


@pytest.mark.files_alone
def test_a_rejected_item_awaits_an_expert_and_one_that_was_skipped_somebody_else(store):
    store.update_queue(queue(2))
    work(store, "ann", verdict_="skip", item_id="item-0")
    work(store, "ann", verdict_="reject", item_id="item-1")
    assert counts(store)["rewrite"][:2] == (2, 1)

    work(store, "bob", item_id="item-0")
    work(store, "eve", "expert", item_id="item-0")
    assert counts(store)["rewrite"] == (2, 0, 4)


@pytest.mark.files_alone
def test_withdrawn_items_await_nobody(store):
    store.update_queue(queue(2))
    work(store, "ann", item_id="item-0")
    store.update_queue([item(1)])

    assert counts(store) == {"rewrite": (1, 1, 0)}
    store.update_queue([])
    assert store.completion() == []


def test_decisions_and_other_contents_change_the_fingerprint_and_nothing_else_does(store):
    seen: list[str] = []

    def queued(*items: QueueItem) -> str:
        store.update_queue(list(items))
        return fingerprint(store)

    seen.append(queued(item(0)))
    assert queued(item(0)) == seen[-1], "the same offer again"
    assert queued(item(0, context={"captions": ["A tower"]})) == seen[-1], "what only helps"

    lock = store.lock_item("ann", "annotator")
    assert lock is not None
    store.save_draft(lock.claim, {"rewrite": "half a sentence"})
    assert fingerprint(store) == seen[-1], "work that is not done"
    store.unlock(lock.claim)

    work(store, "ann", item_id="item-0")
    seen.append(fingerprint(store))
    seen.append(queued(item(0, version=1)))
    seen.append(queued(item(1)))
    seen.append(queued(item(0), item(1)))
    assert len(set(seen)) == 5

    before = seen[-1]
    store.update_queue([item(2, kind="reference")], kinds=["reference"])
    work(store, "ann", item_id="item-2")
    assert fingerprint(store) == before, "another kind"
    assert fingerprint(store, "reference") != before


def test_a_fingerprint_is_the_same_in_any_order_of_items_and_after_the_file_is_opened_again(store):
    store.update_queue(queue(3))
    work(store, "ann")
    before = store.completion()
    store.update_queue(queue(3)[::-1])
    assert store.completion() == before
    store.close()

    again = ReviewStore(store.path)
    assert again.completion() == before
    again.rebuild()
    assert again.completion() == before
