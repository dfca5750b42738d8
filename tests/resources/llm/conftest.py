"""What several tests of model calls use."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.images.store import ImageStore
from tests.doubles.openai_api import ScriptedApi, scripted


@pytest.fixture
def images(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path / "images")


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with scripted() as running:
        yield running
