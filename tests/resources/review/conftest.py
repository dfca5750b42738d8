"""The review store is tested on each backend."""

import pytest


@pytest.fixture(autouse=True)
def on_each_backend(stores_on: str) -> None:
    """Every test of this folder."""
