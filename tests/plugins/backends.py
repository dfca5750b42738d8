"""Tests of stores and tables run on each of their backends: files, and what stands on Postgres.

A module or folder that uses one of them has its tests run twice:
slow on Postgres, nightly on a lake; `files_alone` and `of_file` mark what is about files. On Postgres
they share a database, which is emptied after each; `own_database` marks what needs one of its own.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
"""By server, the database whose schemas all tests use, one after the other: a new one costs seconds."""
_EMPTY = """
DO $$
DECLARE name text; has_rows boolean;
BEGIN
    FOR name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
        WHERE schemaname !~ '^(pg_|information_schema)' AND tablename <> 'alembic_version'
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', name) INTO has_rows;
        IF has_rows THEN
            EXECUTE format('TRUNCATE %s CASCADE', name);
        END IF;
    END LOOP;
    PERFORM setval(format('%I.%I', schemaname, sequencename), 1, false) FROM pg_sequences
        WHERE last_value IS NOT NULL;
END $$
"""


def _with_schemas(server: "PostgresServer") -> str:
    """The database with the schemas of all stores."""
    from resources.stores.postgres import PostgresStore
    from resources.stores_of_home import SQLITE

    if server.address not in _made:
        database = server.database()
        for kind in SQLITE.values():
            PostgresStore(kind, database).close()
        _made[server.address] = database
    return _made[server.address]


def _empty(database: str) -> None:
    """Take away the rows that a test has added, and the sessions that it left."""
    import psycopg

    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute(_EMPTY)


@pytest.fixture
def stores_on(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where stores that this test opens are: `sqlite` or `postgres`."""
    if request.param != "postgres":
        monkeypatch.delenv(VARIABLE, raising=False)
        yield request.param
        return
    server = request.getfixturevalue("postgres")
    with database_of(request, server) as database:
        monkeypatch.setenv(VARIABLE, database)
        yield request.param


@contextmanager
def database_of(request: pytest.FixtureRequest, server: "PostgresServer") -> Iterator[str]:
    """The address of a database without rows, for a test."""
    if request.node.get_closest_marker("own_database") is not None:
        database = server.database()
        yield database
        server.drop(database)
        return
    database = _with_schemas(server)
    yield database
    # Stores that wait for the garbage collector would use up the server's connections.
    _empty(database)


@pytest.fixture
def tables_on(request: pytest.FixtureRequest) -> str:
    """Where the tables of a warehouse that this test opens are: in a `file` or on a `lake`."""
    return str(request.param)
