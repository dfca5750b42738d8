"""The review store is tested on each backend."""

from pathlib import Path

import pytest

from resources.review.store import ReviewStore
from tests.resources.review.review_queue import queue


@pytest.fixture(autouse=True)
def on_each_backend(stores_on: str) -> None:
    """Every test of this folder."""


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    """A store with the default rules and three items."""
    store = ReviewStore(tmp_path / "review.sqlite")
    store.update_queue(queue(3))
    return store
