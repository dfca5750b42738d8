"""Who is given what: reserved places, the setting for afterwards, priorities, new items."""

from collections import Counter

import pytest

from methods.review.assignment import BUCKETS, place_of
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import item, kept, queue, rows, with_rules, work

N = 40


def all_of(store, name):
    """The items that one gets and decides, until nothing is left."""
    return list(iter(lambda: work(store, name), None))


@pytest.fixture
def store(tmp_path):
    return with_rules(tmp_path, "default: {expert: none}", queue(N))


def covered(store, name):
    found = rows(store, "SELECT item_id FROM assigned WHERE annotator = :name", name=name)
    return {item_id for (item_id,) in found}


def test_assigned_items_are_kept_for_their_person_who_gets_them_first(store):
    store.assign("ann", "annotator", "ada", share=0.5)
    mine = covered(store, "ann")
    assert 0 < len(mine) < N
    [told] = store.assignments()
    assert (told.n_open, told.n_done, told.made_by) == (len(mine), 0, "ada")

    assert work(store, "bob") not in mine
    assert store.lock_item("bob", "annotator", item_id=min(mine)) is None
    found = all_of(store, "ann")
    assert set(found[: len(mine)]) == mine and len(found) == N - 1, "then what is kept for nobody"
    assert store.assignments()[0].n_done == len(mine)


def test_a_share_begins_where_the_last_one_of_the_same_items_ends(store):
    shares = [{}, {"kind": "rewrite"}, {"bucket": 2}, {"kind": "rewrite", "bucket": 2}]
    for more in shares:
        for role in ("annotator", "expert", "annotator"):
            store.assign("ann", role, "ada", share=0.25, **more)
    starts = [told.assignment.start for told in store.assignments()]
    assert starts == [0.0, 0.0, 0.25] * len(shares)


@pytest.mark.parametrize("leaving", ["disabled", "erased", "another role"])
def test_what_is_kept_or_locked_for_a_person_is_free_when_they_decide_no_more(store, leaving):
    accounts = Accounts(store.path)
    for name, role in {"ann": "annotator", "cid": "annotator", "ada": "admin"}.items():
        accounts.add(name, role)
    store.assign("ann", "annotator", "ada")
    store.assign("cid", "annotator", "ada", kind="score")
    assert store.lock_item("ann", "annotator", item_id="item-0") is not None
    assert work(store, "bob") is None
    if leaving == "disabled":
        accounts.disable("ann")
    elif leaving == "erased":
        accounts.erase("ann")
    else:
        accounts.set_role("ann", "expert")
        accounts.set_role("cid", "annotator")  # as before
    assert [each.assignment.annotator for each in store.assignments()] == ["cid"]
    assert len(all_of(store, "bob")) == N


@pytest.mark.files_alone  # two stores
def test_none_gives_nothing_more_and_any_takes_what_is_kept(tmp_path):
    items = [item(number, set_id=f"s{number}") for number in range(N)]
    for after in ("none", "any"):
        rules = f"default: {{expert: none}}\nafter_assigned: {after}"
        store = with_rules(tmp_path / after, rules, items)
        store.assign("bob", "annotator", "ada")
        lock = store.lock_item("zoe", "annotator")
        assert (lock is None) == (after == "none")
        store.release(lock.item_id if lock else "", "zoe")
        store.end_assignment(1, "ada")
        bucket = Counter(
            int(place_of("", f"s{number}") * BUCKETS) + 1 for number in range(N)
        ).most_common(1)[0][0]
        store.assign("ann", "annotator", "ada", bucket=bucket)
        n_own = len(covered(store, "ann"))
        assert len(all_of(store, "ann")) == (n_own if after == "none" else N) > 0


@pytest.mark.files_alone
def test_the_other_place_of_a_blind_item_is_anybodys(tmp_path):
    store = with_rules(tmp_path, "default: {annotators: 2}", queue(1))
    store.assign("ann", "annotator", "ada")
    assert work(store, "bob") == "item-0"
    assert work(store, "cat") is None, "the second place is kept"
    store.assign("bob", "annotator", "ada")
    assert [(told.n_open, told.n_done) for told in store.assignments()] == [(1, 0), (0, 1)]
    assert work(store, "ann") == "item-0"
    store.end_assignment(2, "ada")
    store.update_queue([item(0, version=1)])
    assert work(store, "ann") == work(store, "cat") == "item-0", "the kept one is taken"


@pytest.mark.files_alone
def test_kinds_and_experts_are_assigned_too(tmp_path):
    store = ReviewStore(tmp_path / "review.sqlite")
    store.update_queue([item(1), item(2, kind="reference")])
    store.assign("eve", "expert", "ada", kind="reference")
    assert [told.n_waiting for told in store.assignments()] == [1]
    for _ in range(2):
        work(store, "ann")
    # Another expert gets the other one; the assigned one comes first for eve, whatever she asks for.
    assert work(store, "fay", "expert") == "item-1"
    assert work(store, "fay", "expert") is None
    assert store.lock_item("eve", "expert", kind="rewrite").item_id == "item-2"


def test_new_items_are_assigned_and_an_ended_assignment_keeps_nothing(store):
    store.assign("ann", "annotator", "ada")
    store.update_queue([*queue(N), item(N)])
    assert covered(store, "ann") == {f"item-{number}" for number in range(N + 1)}
    assert store.lock_item("bob", "annotator") is None
    before = kept(store)
    store.rebuild()
    assert kept(store) == before

    assert store.end_assignment(1, "ada") and not store.end_assignment(1, "ada")
    assert store.assignments() == [] and covered(store, "ann") == set()
    assert store.lock_item("bob", "annotator") is not None


@pytest.mark.files_alone
def test_what_the_checks_found_comes_first_and_disputes_before_other_items(tmp_path):
    store = with_rules(tmp_path, "default: {annotators: 2, expert: all}")
    found = {"checks": {"q": {"outcome": "review"}}}
    store.update_queue([item(1), item(2), item(3, context=found)])
    assert store.lock_item("ann", "annotator").item_id == "item-3"
    assert store.release("item-3", "ann")
    for number, second in ((1, "accept"), (2, "reject"), (3, "accept")):
        work(store, "bob", item_id=f"item-{number}")
        work(store, "cat", verdict_=second, item_id=f"item-{number}")
    given = [work(store, "eve", "expert") for _ in range(2)]
    assert given == ["item-2", "item-3"]


def test_coverage_hands_out_the_kinds_in_turn(tmp_path):
    store = with_rules(tmp_path, "priorities: [coverage]")
    kinds = ("rewrite", "reference")
    made = [item(number, kind=kinds[number >= N], set_id=f"s{number}") for number in range(2 * N)]
    store.update_queue(made)
    kind_of = {each["item_id"]: each["kind"] for each in made}
    first = Counter(kind_of[work(store, "ann")] for _ in range(N))
    assert min(first[kind] for kind in kinds) > N / 4
