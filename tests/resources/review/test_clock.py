"""The time of locks while the clock of the database is set."""

from pathlib import Path

import pytest

from resources.review import clock
from resources.review.locks import LOCK_SECONDS, LockLost
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import queue, verdict

HOUR = 3600.0
YEAR = 365 * 24 * HOUR


class Clock:
    """The clock of the database, which a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 1.8e9
        monkeypatch.setattr(clock, "database_seconds", lambda _: self.seconds)


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def store(set_clock: Clock, tmp_path: Path) -> ReviewStore:
    store = ReviewStore(tmp_path / "review.sqlite")
    store.update_queue(queue(1))
    return store


BACK = pytest.mark.parametrize("jump", [-1.0, -HOUR, -YEAR])


@BACK
def test_a_clock_set_back_neither_ends_a_lock_nor_makes_it_last_longer(
    store: ReviewStore, set_clock: Clock, jump: float
) -> None:
    lock = store.lock_item("ann", "annotator")
    assert lock is not None
    set_clock.seconds += jump

    # For this process and for another one.
    for each in (store, ReviewStore(store.path)):
        assert each.renew_lock(lock.claim)
        assert each.lock_item("bob", "annotator") is None
        assert each.page()[0][0].locked_by == ("ann",)
    set_clock.seconds += LOCK_SECONDS + 1
    assert not store.renew_lock(lock.claim)
    bob = store.lock_item("bob", "annotator")
    assert bob is not None
    assert store.decide(bob.token, verdict(bob, "bob")) == 1


@BACK
def test_a_lock_that_ended_before_another_got_the_item_stays_ended_when_the_clock_is_set_back(
    store: ReviewStore, set_clock: Clock, jump: float
) -> None:
    ann = store.lock_item("ann", "annotator")
    set_clock.seconds += LOCK_SECONDS + 1
    bob = store.lock_item("bob", "annotator")
    assert ann is not None and bob is not None
    set_clock.seconds += jump

    assert not store.renew_lock(ann.claim)
    with pytest.raises(LockLost):
        store.decide(ann.token, verdict(ann, "ann"))
    assert store.page()[0][0].locked_by == ("bob",)
    assert store.lock_item("ann", "annotator") is None
    assert store.decide(bob.token, verdict(bob, "bob")) == 1


@BACK
@pytest.mark.parametrize("ended_by", ["its person", "the lead"])
def test_a_lock_that_was_given_back_stays_ended_when_the_clock_is_set_back(
    store: ReviewStore, set_clock: Clock, jump: float, ended_by: str
) -> None:
    lock = store.lock_item("ann", "annotator")
    assert lock is not None
    set_clock.seconds += 60
    if ended_by == "the lead":
        assert store.release(lock.item_id, "ann")
    else:
        store.unlock(lock.claim)
    set_clock.seconds += jump

    assert not store.renew_lock(lock.claim) and store.holds() == []
    assert store.lock_item("bob", "annotator") is not None


def test_a_clock_that_was_ahead_and_is_set_right_goes_on_with_locks_of_the_same_length(
    store: ReviewStore, set_clock: Clock
) -> None:
    set_clock.seconds += YEAR
    assert store.lock_item("ann", "annotator") is not None
    set_clock.seconds -= YEAR

    assert store.lock_item("bob", "annotator") is None
    set_clock.seconds += LOCK_SECONDS + 1
    assert store.lock_item("bob", "annotator") is not None
