from pathlib import Path

import pytest
from starlette.testclient import TestClient

from methods.review.decisions import QueueItem
from tests.review.pages import Site, dialogue, make_site, signed_in


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return make_site(tmp_path / "home")


@pytest.fixture
def one(site: Site) -> QueueItem:
    """The only item of the queue."""
    made = dialogue(site)
    site.store.update_queue([made])
    return made


@pytest.fixture
def anna(site: Site) -> TestClient:
    """An annotator who is signed in."""
    return signed_in(site, "anna")
