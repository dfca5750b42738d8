"""The review store keeps every event, once, in order, whoever writes, however many and until killed."""

import signal
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from methods.review import source_hash_of
from resources.review.store import ReviewStore
from tests.doubles.scripts import start
from tests.resources.review.review_queue import (
    assert_follows_from_events,
    decision,
    item,
    queue,
    rows,
    with_rules,
    work,
)


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


def test_one_wrong_decision_and_none_is_stored(store):
    for wrong in (
        {"round": 3},
        *({"verdict": verdict} for verdict in ("fine", "reject", "edit")),
        {"reviewer": "policy:accept"},
    ):
        with pytest.raises(IntegrityError):
            store.append([decision(0), decision(1, **wrong)])
    assert store.decisions() == []
    assert store.append([decision(0)]) == (1, 0)


@pytest.mark.files_alone
def test_events_cannot_be_replaced_and_a_closed_store_holds_no_connection(store):
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

    store.close()  # Nobody holds a connection then, so that exclusive locking succeeds.
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
    assert store.decisions() == stored


def test_decisions_and_contents_of_decided_items_change_the_hash_and_nothing_else_does(store):
    store.update_queue(queue(3))
    seen = [store.decided()]
    lock = store.lock_item("ann", "annotator")
    store.save_draft(lock.claim, {"rewrite": "half a sentence"})
    assert store.decided() == seen[0], "work that is not done"
    store.unlock(lock.claim)
    work(store, "ann", item_id="item-0")
    seen.append(store.decided())
    store.update_queue([*queue(3)[::-1], item(7)])
    assert store.decided() == seen[-1], "another order, and an item that nobody has decided"
    store.update_queue([item(0, context={"captions": ["A tower"]}), item(1)])
    assert store.decided() == seen[-1], "what only helps"
    store.update_queue([item(0, version=1)])
    seen.append(store.decided())
    work(store, "eve", item_id="item-0", verdict_="skip")
    seen.append(store.decided())
    store.update_queue([])
    seen.append(store.decided())
    assert [n_decisions for n_decisions, _ in seen] == [0, 1, 1, 2, 0]
    assert len({fingerprint for _, fingerprint in seen}) == 5


def test_kinds_have_decisions_of_their_own(store):
    store.update_queue([item(0), item(7, kind="reference")])
    work(store, "ann", item_id="item-0")
    before, others = store.decided(["rewrite"]), store.decided(["reference"])
    assert (before.n_decisions, others.n_decisions) == (1, 0)
    work(store, "ann", item_id="item-7")
    assert store.decided(["rewrite"]) == before
    assert store.decided(["reference"]) != others
    assert store.decided().n_decisions == 2


@pytest.mark.files_alone
def test_every_commit_waits_for_the_disk(tmp_path):
    store = ReviewStore(tmp_path / "review.sqlite")
    pragmas = ("journal_mode", "synchronous", "busy_timeout")

    full = 2
    assert [rows(store, f"PRAGMA {name}")[0][0] for name in pragmas] == ["wal", full, 60_000]


# One line a decision, written when the store has said that it has it.
CHILD = """
    import sys
    from resources.review.store import ReviewStore
    from tests.resources.review.review_queue import verdict

    store, name = ReviewStore(sys.argv[1]), sys.argv[2]
    print("ready", flush=True)
    while lock := store.lock_item(name, "annotator"):
        store.save_draft(lock.claim, {"half": "done"})
        event_id = store.decide(lock.token, verdict(lock, name, note=lock.token))
        print(event_id, lock.item_id, lock.token, flush=True)
"""


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(tmp_path):
    store = with_rules(tmp_path, "default: {annotators: 2}", queue(600))
    names = ("ann", "bob", "cat")
    children = [start(CHILD, store.path, name, stdout=subprocess.PIPE) for name in names]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    for child in children:
        child.send_signal(signal.SIGKILL)
    lines = [line for child in children for line in child.communicate()[0].splitlines(True)]
    assert [child.returncode for child in children] == [-signal.SIGKILL] * len(children)
    # A line that was cut off says nothing.
    acknowledged = [tuple(line.split()) for line in lines if line.endswith("\n")]

    stored = ReviewStore(store.path).decisions()
    by_token = Counter(each.note for each in stored)
    assert set(by_token.values()) == {1}
    said = [(str(each.event_id), each.item_id, each.note) for each in stored]
    assert set(acknowledged) <= set(said)
    assert len(set(acknowledged)) == len(acknowledged) > 0
    # What is there and was not acknowledged is what a kill fell upon: one decision a child at most.
    assert len(said) - len(acknowledged) <= 3
    people = Counter(each.item_id for each in stored)
    assert max(people.values()) <= 2
    assert_follows_from_events(store)
