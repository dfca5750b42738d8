"""Many at once: no place is given twice, no decision is lost, and nobody is told to come back."""

import random
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from methods.review.process import Rules
from resources.review.items import Filters
from resources.review.store import ReviewStore
from tests.plugins.backends import OnSameStores
from tests.resources.review.review_queue import kept, lock_all, queue, rows, verdict, with_rules
from tests.shared import PROCESSES

pytestmark = pytest.mark.slow

THREADS = 20
ITEMS = 1000
DECISIONS = 300
PEOPLE = ["ann", "bob", "cat", "dan"]


@pytest.mark.parametrize("annotators", [1, 2])
def test_processes_get_each_place_once(tmp_path, annotators):
    with_rules(tmp_path, f"default: {{annotators: {annotators}}}").update_queue(queue(150))
    path, item_ids = tmp_path / "review.sqlite", [f"item-{number}" for number in range(150)]

    with ProcessPoolExecutor(len(PEOPLE), PROCESSES) as pool:
        lock = OnSameStores(lock_all)
        asking = [pool.submit(lock, path, name, item_ids, len(PEOPLE)) for name in PEOPLE]
        given = [each.result() for each in asking]

    holders = Counter(item_id for each in given for item_id in each)
    assert holders == dict.fromkeys(item_ids, annotators)
    assert sum(map(bool, given)) > annotators, "they were at it at the same time"


class Floor:
    """Who holds what right now, as the holders themselves know it."""

    def __init__(self, rules):
        self.rules, self.turn = rules, threading.Lock()
        self.holders = defaultdict(list)
        self.doubles = []

    @contextmanager
    def held(self, lock, person):
        place = (lock.item_id, lock.round)
        with self.turn:
            self.holders[place].append(person)
            if len(self.holders[place]) > (self.rules.annotators if lock.round == 1 else 1):
                self.doubles.append((place, list(self.holders[place])))
        yield
        with self.turn:
            self.holders[place].remove(person)


@pytest.mark.slow
def test_twenty_threads_on_a_thousand_items(tmp_path):
    store = with_rules(tmp_path, "default: {annotators: 2, expert: disagreement}")
    store.update_queue(queue(ITEMS))
    floor, acknowledged = Floor(Rules(annotators=2)), []

    def person(number):
        random_ = random.Random(number)
        name, role = f"person-{number}", "expert" if number % 5 == 0 else "annotator"
        while len(acknowledged) < DECISIONS:
            if number == 1:
                store.page(Filters(reviewer="person-2", text="7"), limit=20)
            lock = store.lock_item(name, role)
            if lock is None:
                time.sleep(0.01)
                continue
            with floor.held(lock, name):
                store.save_draft(lock.claim, {"by": name})
                assert store.renew_lock(lock.claim)
                assert store.draft(lock.claim) == {"by": name}
                said = random_.choice(["accept", "accept", "reject", "skip", None])
                # It is free from the moment that the store has it, which is before this thread knows.
                if said is None:
                    continue
            if said is not None:
                event_id = store.decide(lock.token, verdict(lock, name, said))
                acknowledged.append((event_id, lock.item_id, name, said))
        store.close()

    def whole(number):
        try:
            person(number)
        except Exception as error:  # whatever it is, it is what this test is about
            return error
        return None

    with ThreadPoolExecutor(THREADS) as pool:
        assert [error for error in pool.map(whole, range(THREADS)) if error] == []

    stored = [(e.event_id, e.item_id, e.reviewer, e.verdict) for e in store.decisions()]
    assert sorted(acknowledged) == stored
    assert floor.doubles == []
    assert len(stored) >= DECISIONS
    people = Counter((e.item_id, e.round, e.reviewer) for e in store.decisions())
    assert set(people.values()) == {1}, "nobody twice in a round"
    before = kept(store)
    store.rebuild()
    assert kept(store) == before


@pytest.mark.files_alone
def test_every_commit_waits_for_the_disk(tmp_path):
    store = ReviewStore(tmp_path / "review.sqlite")
    pragmas = ("journal_mode", "synchronous", "busy_timeout")

    full = 2
    assert [rows(store, f"PRAGMA {name}")[0][0] for name in pragmas] == ["wal", full, 60_000]
