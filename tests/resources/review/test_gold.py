"""Gold in the store: made of experts' decisions, mixed in, counted, and of no effect elsewhere."""

import pytest

from resources.review import gold, revocations
from resources.review.revocations import RevocationError
from tests.resources.review.review_queue import kept, queue, verdict, with_rules, work


def decide_all(store, n, says="accept"):
    for _ in range(n):
        work(store, "old")
    for _ in range(n):
        work(store, "eve", "expert", says)


def is_gold(item_id):
    return not item_id.startswith("item-")


@pytest.fixture
def store(tmp_path):
    store = with_rules(tmp_path, "gold: 0.25", queue(60))
    decide_all(store, 8)
    assert store.make_gold(5, "ada") == 5
    return store


def test_the_position_of_gold_depends_on_the_gold_items_of_the_store(store, monkeypatch):
    keys = []
    monkeypatch.setattr(gold, "is_due", lambda key, *_: keys.append(key))
    for n_new in (0, 0, 1):
        assert store.make_gold(n_new, "ada") == n_new
        store.unlock(store.lock_item("new", "annotator").claim)
    first, again, after = keys
    assert first == again != after


def test_gold_changes_nothing_but_what_is_known_of_people(store, monkeypatch):
    def seen():
        return store.progress(), store.page(limit=1000), store.items()

    name = "new"
    monkeypatch.setattr(gold, "is_due", lambda *_: True)
    before, rows = seen(), kept(store)
    lock = store.lock_item(name, "annotator")
    assert is_gold(lock.item_id)
    # The page shows it as any item of round 1, and gives it again after a reload.
    assert store.lock_item(name, "annotator", item_id=lock.item_id).token == lock.token
    store.save_draft(lock.claim, {"note": "x"})
    said = verdict(lock, name, "reject")
    assert store.decide(lock.token, said) == store.decide(lock.token, said)

    state = store.state(lock.item_id)
    assert (state.status.name, state.annotator_decisions) == ("round_1", ())
    assert store.visible_decisions(lock.item_id, "third", "annotator") == []
    assert store.update_queue(queue(60)).withdrawn == 0
    assert (seen(), kept(store)) == (before, rows)
    found = store.overview()
    assert [row[:3] for row in found.gold.people] == [(name, 1, 0)]
    assert name not in {person["reviewer"] for person in found.people}
    [week] = [row for row in found.weeks if row["reviewer"] == name]
    assert (week["n_gold"], week["n_hits"]) == (1, 0)


@pytest.mark.files_alone
def test_gold_is_made_once_given_at_its_share_to_who_does_not_know_it_and_not_by_its_address(store):
    assert store.make_gold(10, "ada") == 3
    assert store.make_gold(10, "ada") == 0
    assert store.overview().gold[:2] == (8, 0)
    gold_id = store.gold()[0]["item_id"]
    assert store.lock_item("new", "annotator", item_id=gold_id) is None
    assert store.lock_item("eve", "expert", item_id=gold_id) is None
    taken = [work(store, "new") for _ in range(20)]
    assert sum(map(is_gold, taken)) == 5 and len(set(taken)) == 20
    assert all(not is_gold(work(store, "old")) for _ in range(10)), "they know these items"


@pytest.mark.files_alone
def test_only_the_last_decision_is_taken_back_and_not_after_a_while(store, monkeypatch):
    work(store, "new")
    while not is_gold(work(store, "new")):
        pass
    *_, early, last = store.decisions()
    with pytest.raises(RevocationError, match="with gold items"):
        store.take_back(early.item_id, early.event_id, "new")
    store.take_back(last.item_id, last.event_id, "new")
    assert store.is_in_work(last.item_id, "new")
    work(store, "new", item_id=last.item_id)
    again = store.last_decision("new")
    monkeypatch.setattr(revocations, "TAKE_BACK_SECONDS", -1)
    assert again.item_id == last.item_id and store.last_decision("new") is None
    with pytest.raises(RevocationError, match="with gold items"):
        store.take_back(again.item_id, again.event_id, "new")


class TestCalibration:
    RULES = "calibration: {items: 4, hits: 0.75}"

    @pytest.fixture
    def store(self, tmp_path):
        store = with_rules(tmp_path, self.RULES, queue(20))
        decide_all(store, 8)
        store.make_gold(8, "ada")
        return store

    def test_who_hits_enough_goes_on_to_the_queue(self, store):
        assert store.in_calibration("new") and not store.in_calibration("old")
        assert store.lock_item("new", "annotator", item_id="item-15") is None
        said = ["accept", "reject", "accept", "accept"]
        assert all(is_gold(work(store, "new", verdict_=each)) for each in ("skip", *said))
        assert all(is_gold(work(store, "bad", verdict_="reject")) for _ in range(8))
        assert work(store, "bad") is None and store.in_calibration("bad"), "no gold is left"
        assert not store.in_calibration("new")
        people = [("bad", 8, 0, "in_calibration"), ("new", 4, 3, "passed")]
        assert store.overview().gold.people == people
        assert not is_gold(work(store, "new"))
        # What they answer later does not undo it, and who decided before had no calibration.
        for row in store.gold()[:6]:
            for name in ("new", "old"):
                store.append([verdict(store.item(row["item_id"]), name, "reject")])
        people = {row[0]: row[3] for row in store.overview().gold.people}
        assert (people["new"], people["old"]) == ("passed", "not_calibrated")

    @pytest.mark.files_alone  # two stores
    def test_experts_and_a_store_without_enough_gold_hold_nobody_back(self, store, tmp_path):
        assert store.lock_item("fay", "expert") is None  # Nothing waits for one; no gold either.
        other = with_rules(tmp_path / "few", self.RULES, queue(5))
        decide_all(other, 3)
        other.make_gold(3, "ada")
        assert not other.in_calibration("new") and not is_gold(work(other, "new"))
