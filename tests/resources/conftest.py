"""What the tests of several folders of resources share."""

from pathlib import Path

import pytest

from resources.images.store import ImageStore


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path / "images")
