"""The review progress of each bucket, and what changes its fingerprint."""

from pathlib import Path
from typing import Any

import pytest

from methods.ids import content_id
from methods.review import Decision, QueueItem
from resources.review.store import ReviewStore


def item(item_id: str, bucket: str, text: str = "It stands by the sea.") -> QueueItem:
    content: dict[str, Any] = {"original": "Where?", "rewrite": text}
    return QueueItem(
        item_id=item_id,
        kind="rewrite",
        content=content,
        content_hash=content_id(content),
        image_ids=[],
        bucket=bucket,
        set_id="set",
    )


def accepted(one: QueueItem, round: int) -> Decision:
    name = ("ann", "eve")[round - 1]
    on = (one["item_id"], one["content_hash"])
    return Decision(*on, round, name, "accept", None, None, None, None, f"2026-01-0{round}")


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    return ReviewStore(tmp_path / "review.sqlite")


def test_a_bucket_is_complete_when_none_of_its_items_awaits_anybody(store: ReviewStore) -> None:
    one, two, other = item("one", "03"), item("two", "03"), item("three", "07")
    store.update_queue([one, two, other])
    store.append([accepted(one, 1), accepted(one, 2), accepted(two, 1)])

    counts = {b.bucket: (b.n_items, b.n_open, b.n_decisions) for b in store.buckets()}
    assert counts == {"03": (2, 1, 3), "07": (1, 1, 0)}
    store.append([accepted(two, 2)])
    counts = {b.bucket: (b.n_items, b.n_open, b.n_decisions) for b in store.buckets()}
    assert counts == {"03": (2, 0, 4), "07": (1, 1, 0)}


def test_decisions_and_other_contents_change_its_fingerprint(store: ReviewStore) -> None:
    one = item("one", "03")
    fingerprints = []
    store.update_queue([one])
    fingerprints.append(store.buckets()[0].fingerprint)
    store.update_queue([one])
    assert store.buckets()[0].fingerprint == fingerprints[0]
    store.append([accepted(one, 1)])
    fingerprints.append(store.buckets()[0].fingerprint)
    store.update_queue([item("one", "03", "It stands on a hill.")])
    fingerprints.append(store.buckets()[0].fingerprint)
    store.update_queue([item("two", "03")])
    fingerprints.append(store.buckets()[0].fingerprint)
    assert len(set(fingerprints)) == 4
    store.update_queue([])
    assert store.buckets() == []
