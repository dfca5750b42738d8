"""A home whose model calls are served."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.resources.calls_page.ledgers import serving


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def port(home: Path) -> Iterator[int]:
    with serving(home) as port:
        yield port
