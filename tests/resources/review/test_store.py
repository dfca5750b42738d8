"""The review store keeps every event, once, in order, whoever writes and however many."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from methods.review import source_hash_of
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import decision


@pytest.fixture
def store(tmp_path):
    return ReviewStore(tmp_path / "not" / "there" / "review.sqlite")


def test_decisions_come_back_as_they_went_in_with_their_place(store):
    edits = {"turns": [{"question": "Où ?", "answer": "“Here” 字"}], "image_ids": []}
    edited = decision(1, verdict="edit", edits=edits, note="n", seconds=2.5)

    assert store.append([decision(0), edited]) == (2, 0)

    first, second = store.decisions()
    assert (first.event_id, second.event_id) == (1, 2)
    assert replace(second, event_id=None, source_hash=None) == edited
    assert second.source_hash == source_hash_of(edited)


def test_what_is_known_is_not_added_again(store):
    store.append([decision(0)])

    assert store.append([decision(0), decision(1), decision(1)]) == (1, 2)
    assert store.append(store.decisions()) == (0, 2)
    # A person may return to an earlier verdict.
    rejected = decision(0, verdict="reject", reason="dull", decided_at="2026-01-02T00:00:00+00:00")
    assert store.append([rejected, decision(0, decided_at="2026-01-03T00:00:00+00:00")]) == (2, 0)
    items = [each.item_id for each in store.decisions(["item-1", "item-7"])]
    assert items == ["item-1"] and store.decisions([]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        decision(1, round=3),
        decision(1, verdict="fine"),
        decision(1, verdict="reject"),
        decision(1, verdict="edit"),
        decision(1, reviewer="policy:accept"),
    ],
)
def test_one_wrong_decision_and_none_is_stored(store, wrong):
    with pytest.raises(IntegrityError):
        store.append([decision(0), wrong])

    assert store.decisions() == []
    assert store.append([decision(0)]) == (1, 0)


@pytest.mark.files_alone
def test_events_cannot_be_replaced_by_an_insert(store):
    store.append([decision(0)])
    stored = store.decisions()
    columns = "event_id, item_id, content_hash, round, reviewer, verdict, decided_at, source_hash"

    with closing(sqlite3.connect(store.path)) as connection, connection:
        for event_id, source_hash in [(1, "new"), (None, stored[0].source_hash)]:
            connection.execute(
                f"INSERT OR REPLACE INTO events ({columns}) "
                "VALUES (?, 'x', 'x', 1, 'x', 'accept', 'x', ?)",
                (event_id, source_hash),
            )

    assert store.decisions() == stored


@pytest.mark.files_alone
def test_a_store_that_was_closed_holds_no_connection(store):
    store.append([decision(0)])

    store.close()
    with closing(sqlite3.connect(store.path)) as connection:
        # Exclusive locking succeeds only when nobody holds a connection.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
    assert len(store.decisions()) == 1
