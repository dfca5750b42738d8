"""Tests of stores run on each of their backends: files of SQLite, and a database on Postgres.

What belongs here: the fixture `stores_on`. A module or folder that uses it has its tests run twice, the
second time (a sample of them) in the slow tier, each in a database of its own; `files_alone` marks what
is about files.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest

from resources.store_backend import VARIABLE


class OnSameStores:
    """A function for another process, whose environment is not that of the test: it opens stores where
    this process does."""

    def __init__(self, function: Callable[..., Any]):
        self._function, self._address = function, os.environ.get(VARIABLE, "")

    def __call__(self, *given: Any) -> Any:
        """What the function gives."""
        os.environ[VARIABLE] = self._address
        return self._function(*given)


ON_POSTGRES = pytest.mark.sample(100, of="stores on Postgres")
"""Each has a database of its own, half a second: a commit has so many of them, a night all."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what uses the fixture on both."""
    if "stores_on" in metafunc.fixturenames:
        on = [pytest.param("sqlite")]
        if metafunc.definition.get_closest_marker("files_alone") is None:
            on.append(pytest.param("postgres", marks=[pytest.mark.slow, ON_POSTGRES]))
        metafunc.parametrize("stores_on", on, indirect=True)


@pytest.fixture
def stores_on(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where stores that this test opens are: `sqlite` or `postgres`."""
    if request.param == "postgres":
        monkeypatch.setenv(VARIABLE, request.getfixturevalue("postgres").database())
    else:
        monkeypatch.delenv(VARIABLE, raising=False)
    return str(request.param)
