"""The store's time while the machine's clock is set, and over a start of the machine."""

from pathlib import Path

import pytest

from resources.review import clock
from resources.review.locks import LOCK_SECONDS
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import queue, verdict

pytestmark = pytest.mark.files_alone
HOUR = 3600.0


class Machine:
    """A machine whose clock is set, that goes on, and that is started again, as a test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock, self.running, self.start = 1.8e9, 500.0, "first"
        monkeypatch.setattr(clock, "wall", lambda: self.clock)
        monkeypatch.setattr(clock, "since_boot", lambda: self.running)
        monkeypatch.setattr(clock, "boot", lambda: self.start)

    def pass_by(self, seconds: float) -> None:
        self.clock += seconds
        self.running += seconds


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


@pytest.fixture
def store(machine: Machine, tmp_path: Path) -> ReviewStore:
    store = ReviewStore(tmp_path / "review.sqlite")
    store.update_queue(queue(1))
    return store


@pytest.mark.parametrize("jump", [HOUR, -HOUR, 400 * 24 * HOUR, -400 * 24 * HOUR])
def test_a_jump_of_the_clock_neither_ends_a_lock_nor_prolongs_it(
    store: ReviewStore, machine: Machine, jump: float
) -> None:
    lock = store.lock_item("ann", "annotator")
    assert lock is not None
    machine.clock += jump

    # For this process and for another one.
    for each in (store, ReviewStore(store.path)):
        assert each.renew_lock(lock.claim)
        assert each.lock_item("bob", "annotator") is None
        assert each.page()[0][0].locked_by == ("ann",)
    machine.pass_by(LOCK_SECONDS + 1)
    assert not store.renew_lock(lock.claim)
    bob = store.lock_item("bob", "annotator")
    assert bob is not None
    assert store.decide(bob.token, verdict(bob, "bob")) == 1


@pytest.mark.parametrize("jump", [0.0, -400 * 24 * HOUR])
def test_after_a_start_a_lock_lasts_no_longer_than_a_new_one(
    store: ReviewStore, machine: Machine, jump: float
) -> None:
    lock = store.lock_item("ann", "annotator")
    assert lock is not None
    machine.start, machine.running = "second", 3.0
    machine.clock += jump

    assert store.lock_item("bob", "annotator") is None, "it is ann's for its time"
    machine.pass_by(LOCK_SECONDS + 1)
    assert store.lock_item("bob", "annotator") is not None


def test_this_machine_says_how_long_it_runs_and_which_start_it_was() -> None:
    assert 0 < clock.since_boot() <= clock.since_boot()
    assert clock.boot() == clock.boot() != ""
