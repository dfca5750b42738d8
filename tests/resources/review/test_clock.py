"""The time of locks while the clock of the database is set."""

from pathlib import Path

import pytest

from resources.review.locks import LOCK_SECONDS, LockLost
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import queue, verdict
from tests.resources.review.test_locks import Time

YEAR = 365 * 24 * 3600.0


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


@pytest.fixture
def store(time: Time, tmp_path: Path) -> ReviewStore:
    store = ReviewStore(tmp_path / "review.sqlite")
    store.update_queue(queue(1))
    return store


BACK = pytest.mark.parametrize("jump", [-1.0, -YEAR])


@BACK
def test_a_clock_set_back_neither_ends_a_lock_nor_makes_it_last_longer(store, time, jump):
    lock = store.lock_item("ann", "annotator")
    assert lock is not None
    time.pass_by(jump)

    # For this process and for another one.
    for each in (store, ReviewStore(store.path)):
        assert each.renew_lock(lock.claim)
        assert each.lock_item("bob", "annotator") is None
        assert each.page()[0][0].locked_by == ("ann",)
    time.pass_by(LOCK_SECONDS + 1)
    assert not store.renew_lock(lock.claim)
    bob = store.lock_item("bob", "annotator")
    assert bob is not None
    assert store.decide(bob.token, verdict(bob, "bob")) == 1


@BACK
def test_a_lock_that_ended_before_another_got_the_item_stays_ended_when_the_clock_is_set_back(
    store, time, jump
):
    ann = store.lock_item("ann", "annotator")
    time.pass_by(LOCK_SECONDS + 1)
    bob = store.lock_item("bob", "annotator")
    assert ann is not None and bob is not None
    time.pass_by(jump)

    assert not store.renew_lock(ann.claim)
    with pytest.raises(LockLost):
        store.decide(ann.token, verdict(ann, "ann"))
    assert store.page()[0][0].locked_by == ("bob",)
    assert store.lock_item("ann", "annotator") is None
    assert store.decide(bob.token, verdict(bob, "bob")) == 1


@BACK
@pytest.mark.parametrize("ended_by", ["its person", "the lead"])
def test_a_lock_that_was_given_back_stays_ended_when_the_clock_is_set_back(
    store, time, jump, ended_by
):
    lock = store.lock_item("ann", "annotator")
    assert lock is not None
    time.pass_by(60)
    if ended_by == "the lead":
        assert store.release(lock.item_id, "ann")
    else:
        store.unlock(lock.claim)
    time.pass_by(jump)

    assert not store.renew_lock(lock.claim) and store.holds() == []
    with pytest.raises(LockLost):
        store.decide(lock.token, verdict(lock, "ann"))
    assert store.lock_item("bob", "annotator") is not None


def test_a_clock_that_was_ahead_and_is_set_right_goes_on_with_locks_of_the_same_length(store, time):
    time.pass_by(YEAR)
    assert store.lock_item("ann", "annotator") is not None
    time.pass_by(-YEAR)

    assert store.lock_item("bob", "annotator") is None
    time.pass_by(LOCK_SECONDS + 1)
    assert store.lock_item("bob", "annotator") is not None
