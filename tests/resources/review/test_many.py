"""Many at once: no place is given twice, no decision is lost, and nobody is told to come back."""

import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import pytest

from resources.files.home import REPO_ROOT
from resources.review.store import ReviewStore
from tests.plugins.backends import OnSameStores
from tests.resources.review.review_queue import kept, lock_all, queue, rows, with_rules
from tests.shared import PROCESSES

pytestmark = pytest.mark.slow

PEOPLE = ["ann", "bob", "cat", "dan"]


def test_processes_get_each_place_once(tmp_path):
    with_rules(tmp_path, "default: {annotators: 2}").update_queue(queue(150))
    path, item_ids = tmp_path / "review.sqlite", [f"item-{number}" for number in range(150)]

    with ProcessPoolExecutor(len(PEOPLE), PROCESSES) as pool:
        lock = OnSameStores(lock_all)
        asking = [pool.submit(lock, path, name, item_ids, len(PEOPLE)) for name in PEOPLE]
        given = [each.result() for each in asking]

    holders = Counter(item_id for each in given for item_id in each)
    assert holders == dict.fromkeys(item_ids, 2)
    assert sum(map(bool, given)) > 2, "they were at it at the same time"


@pytest.mark.files_alone
def test_every_commit_waits_for_the_disk(tmp_path):
    store = ReviewStore(tmp_path / "review.sqlite")
    pragmas = ("journal_mode", "synchronous", "busy_timeout")

    full = 2
    assert [rows(store, f"PRAGMA {name}")[0][0] for name in pragmas] == ["wal", full, 60_000]


CHILDREN = 3

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


def decide_until_killed(path, names, seconds):
    """Start a child for each name, kill them at the same moment; what they had acknowledged."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(CHILD), str(path), name],
            stdout=subprocess.PIPE,
            cwd=REPO_ROOT,
            text=True,
        )
        for name in names
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    time.sleep(seconds)
    for child in children:
        child.send_signal(signal.SIGKILL)
    lines = [line for child in children for line in child.communicate()[0].splitlines(True)]
    assert [child.returncode for child in children] == [-signal.SIGKILL] * len(children)
    # A line that was cut off says nothing.
    return [tuple(line.split()) for line in lines if line.endswith("\n")]


def test_what_was_acknowledged_survives_a_kill(tmp_path):
    store = with_rules(tmp_path, "default: {annotators: 2}")
    store.update_queue(queue(600))
    names = [f"person-{number}" for number in range(CHILDREN)]
    acknowledged = decide_until_killed(store.path, names, 0.5)

    stored = ReviewStore(store.path).decisions()
    by_token = Counter(each.note for each in stored)
    assert set(by_token.values()) == {1}
    said = [(str(each.event_id), each.item_id, each.note) for each in stored]
    assert set(acknowledged) <= set(said)
    assert len(set(acknowledged)) == len(acknowledged) > 0
    # What is there and was not acknowledged is what a kill fell upon: one decision a child at most.
    assert len(said) - len(acknowledged) <= CHILDREN
    people = Counter(each.item_id for each in stored)
    assert max(people.values()) <= 2
    before = kept(store)
    store.rebuild()
    assert kept(store) == before, "events and what follows from them went together"
