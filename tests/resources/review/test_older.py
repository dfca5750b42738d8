"""A file of the older form, of events alone that knew no skip, becomes one of this form whole."""

import multiprocessing
import os
import signal
import sqlite3
import textwrap
from contextlib import closing

import pytest

from methods.ids import canonical_json
from methods.review.decisions import source_hash_of
from resources.review import file
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import item, queue, status, work
from tests.resources.review.test_store import decision
from tests.shared import PROCESSES

OLDER = """
CREATE TABLE events (
    event_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    item_id      TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    round        INTEGER NOT NULL CHECK (round IN (1, 2)),
    reviewer     TEXT NOT NULL CHECK (reviewer <> '' AND reviewer NOT LIKE 'policy:%'),
    verdict      TEXT NOT NULL CHECK (verdict IN ('accept', 'edit', 'reject')),
    edits        TEXT CHECK ((edits IS NOT NULL) = (verdict = 'edit')),
    reason       TEXT CHECK (reason IS NOT NULL OR verdict <> 'reject'),
    note         TEXT,
    seconds      REAL,
    decided_at   TEXT NOT NULL,
    source_hash  TEXT NOT NULL UNIQUE
);
CREATE INDEX events_of_item ON events (item_id);
CREATE TRIGGER events_no_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'review events are append-only: no UPDATE'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'review events are append-only: no DELETE'); END;
CREATE TRIGGER events_no_replace BEFORE INSERT ON events
WHEN EXISTS (
    SELECT 1 FROM events WHERE event_id = NEW.event_id OR source_hash = NEW.source_hash
)
BEGIN SELECT RAISE(IGNORE); END;
"""


def older_file(path, n=50):
    """Such a file, with gaps in its numbers; its rows."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(textwrap.dedent(OLDER))
        for number in range(n):
            edits = item(number, version=1)["content"] if number % 3 == 0 else None
            made = decision(
                number,
                verdict="edit" if edits else "reject" if number % 3 == 1 else "accept",
                content_hash=item(number)["content_hash"],
                reason="dull" if number % 3 == 1 else None,
                edits=edits,
                note="“字”",
                seconds=number / 7,
            )
            values = vars(made) | {
                "event_id": 2 * number + 1,
                "edits": canonical_json(edits) if edits else None,
                "source_hash": source_hash_of(made),
            }
            columns = ", ".join(values)
            marks = ", ".join("?" * len(values))
            connection.execute(
                f"INSERT INTO events ({columns}) VALUES ({marks})", list(values.values())
            )
    return rows(path)


def rows(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("SELECT * FROM events ORDER BY event_id")]


def test_every_event_is_taken_along_as_it_was(tmp_path):
    path = tmp_path / "review.sqlite"
    before = older_file(path)

    store = ReviewStore(path)

    assert rows(path) == before
    assert [each.event_id for each in store.decisions()] == [row["event_id"] for row in before]
    # Known ones are still known, new ones go on from the last number, and nothing may be changed.
    assert store.append(store.decisions()) == (0, 50)
    store.update_queue(queue(51))
    assert [status(store, f"item-{n}") for n in (0, 1, 2)] == ["round_2", "rejected", "round_2"]
    work(store, "bob", verdict_="skip")
    assert rows(path)[-1]["event_id"] == 100
    with (
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="append-only"),
    ):
        connection.execute("DELETE FROM events")


def _killed_at(path, statement):
    """Open the store, and die before the `statement`-th statement of its making."""
    seen = 0
    open_ = file.ReviewFile._open

    def watched(self):
        connection = open_(self)

        def count(text):
            nonlocal seen
            seen += 1
            if seen == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        connection.set_trace_callback(count)
        return connection

    file.ReviewFile._open = watched
    ReviewStore(path)


def test_killed_at_any_statement_it_is_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "review.sqlite"
    before = older_file(path)
    context = multiprocessing.get_context("fork")
    for statement in range(1, 200):
        process = context.Process(target=_killed_at, args=(path, statement))
        process.start()
        process.join()
        assert rows(path) == before, f"killed before statement {statement}"
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
    else:
        pytest.fail("the file was never made")
    assert statement > 20, "it was killed amid the work"
    assert ReviewStore(path).append([decision(99, verdict="skip")]) == (1, 0)


def test_processes_that_find_an_older_file_at_once(tmp_path):
    path = tmp_path / "review.sqlite"
    before = older_file(path, n=500)
    processes = [PROCESSES.Process(target=ReviewStore, args=(path,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0] * 4
    assert rows(path) == before
