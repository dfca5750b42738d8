"""The review store is tested on each backend."""

from pathlib import Path

import pytest

from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from tests.resources.review.account_clock import Clock, DatabaseTime, accounts_at
from tests.resources.review.review_queue import queue, with_rules


@pytest.fixture(autouse=True)
def on_each_backend(stores_on: str) -> None:
    """Every test of this folder."""


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    """A store with the default rules and three items."""
    store = ReviewStore(tmp_path / "review.sqlite")
    store.update_queue(queue(3))
    return store


@pytest.fixture
def blind(tmp_path: Path) -> ReviewStore:
    """Two annotators decide each of three items."""
    return with_rules(tmp_path, "default: {annotators: 2}", queue(3))


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> DatabaseTime:
    return DatabaseTime(monkeypatch)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def accounts(tmp_path: Path, clock: Clock) -> Accounts:
    return accounts_at(tmp_path, clock)
