"""Tests of stores and tables run on each of their backends: files, and what stands on Postgres.

A module or folder that uses one of them has its tests run twice, the second time in its own database:
slow on Postgres, nightly on a lake; `files_alone` and `of_file` mark what is about files.
`new_database` marks a test that makes the schemas itself.
"""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from resources.stores.address import VARIABLE

if TYPE_CHECKING:
    from tests.doubles.servers import PostgresServer


class OnSameStores:
    """A function for another process, whose environment is not that of the test: it opens stores where
    this process does."""

    def __init__(self, function: Callable[..., Any]):
        self._function, self._address = function, os.environ.get(VARIABLE, "")

    def __call__(self, *given: Any) -> Any:
        """What the function gives."""
        os.environ[VARIABLE] = self._address
        return self._function(*given)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what uses one of the fixtures on both."""
    for fixture, file, other, of_file, tier in (
        # Half a second for a database of its own, and some for the tables of a lake.
        ("stores_on", "sqlite", "postgres", "files_alone", pytest.mark.slow),
        ("tables_on", "file", "lake", "of_file", pytest.mark.nightly),
    ):
        if fixture in metafunc.fixturenames:
            on = [pytest.param(file)]
            if metafunc.definition.get_closest_marker(of_file) is None:
                on.append(pytest.param(other, marks=tier))
            metafunc.parametrize(fixture, on, indirect=True)


_made: dict[str, str] = {}
"""By server, a database with the schemas of all stores and no rows, which others are copies of."""


def database_with_schemas(server: "PostgresServer") -> str:
    """The address of a new database that has the schemas of all stores: making them takes longer than
    copying them."""
    if server.address not in _made:
        from resources.stores.postgres import PostgresStore
        from resources.stores_of_home import SQLITE

        database = server.database()
        for kind in SQLITE.values():
            PostgresStore(kind, database).close()
        _made[server.address] = database
    return server.database(_made[server.address])


@pytest.fixture
def stores_on(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where stores that this test opens are: `sqlite` or `postgres`."""
    if request.param != "postgres":
        monkeypatch.delenv(VARIABLE, raising=False)
        yield request.param
        return
    server = request.getfixturevalue("postgres")
    is_new = request.node.get_closest_marker("new_database") is not None
    database = server.database() if is_new else database_with_schemas(server)
    monkeypatch.setenv(VARIABLE, database)
    yield request.param
    # Stores that wait for the garbage collector would use up the server's connections.
    server.drop(database)


@pytest.fixture
def tables_on(request: pytest.FixtureRequest) -> str:
    """Where the tables of a warehouse that this test opens are: in a `file` or on a `lake`."""
    return str(request.param)
