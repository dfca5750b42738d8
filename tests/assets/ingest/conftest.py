"""The world of a test's `corpus`."""

from pathlib import Path

import pytest

from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus
from tests.assets.world import World


@pytest.fixture
def world(make_world: MakeWorld, corpus: Corpus, tmp_path: Path) -> World:
    return make_world(tmp_path, corpus)
