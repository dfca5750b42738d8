"""The time of locks while the clock of the database is set."""

from pathlib import Path

import pytest

from resources.review.locks import LOCK_SECONDS
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
