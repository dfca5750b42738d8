"""Worlds for the assets' tests: an empty one, and copies of one that was built once."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import dagster as dg
import duckdb
import pytest

from dagster_project.job_runs import restore_signal_handlers
from resources.embedding.embedder import Embedder
from resources.mock_server.process import MockServerProcess
from resources.warehouse import Warehouse, duckdb_file
from resources.warehouse.declarations import schema_ddl, views_ddl
from tests.assets.corpus import Corpus, two_sided_corpus
from tests.assets.review.desk import Desk
from tests.assets.world import SMALL_SETS, World, copy_of, move_corpus
from tests.doubles.garbling_proxy import ProxyServer
from tests.doubles.remembering_embedder import RememberingEmbedder
from tests.doubles.serving import serving
from tests.shared import once_for_all_workers

MakeWorld = Callable[..., World]
CopyWorld = Callable[..., World]


@pytest.fixture(scope="module")
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables and views of the warehouse, in memory."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'; SET threads = 1")
        connection.execute(schema_ddl() + views_ddl())
        yield connection


@pytest.fixture(autouse=True)
def warehouses_stay_open() -> Iterator[None]:
    """Warehouses stay open between transactions, as in a run and for longer.

    Opening one takes 10 ms, and a test reads and writes many times.
    """
    with pytest.MonkeyPatch.context() as patch, duckdb_file.left_open.of_run():
        patch.setattr(duckdb_file, "LEFT_OPEN", 5.0)
        patch.setattr(duckdb_file, "OPEN_AT_MOST", 60.0)
        yield


@pytest.fixture(autouse=True)
def signal_handlers() -> Iterator[None]:
    """A run in process leaves the handlers of signals as they were, however a test starts it."""
    with restore_signal_handlers():
        yield


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return RememberingEmbedder()


@pytest.fixture(scope="session")
def mock_url() -> Iterator[str]:
    server = MockServerProcess()
    yield server.start()
    server.stop()


@pytest.fixture(scope="session")
def make_world(embedder: Embedder) -> Iterator[MakeWorld]:
    """Makes worlds: `make_world(root, corpus)`, with a proxy and an instance of their own."""
    with ExitStack() as stack:
        server = stack.enter_context(serving(ProxyServer()))

        def make(
            root: Path, corpus: Corpus, instance: dg.DagsterInstance | None = None, **settings: str
        ) -> World:
            own = stack.enter_context(instance or dg.DagsterInstance.ephemeral())
            return World(root, corpus, server.proxy(), embedder, own, settings)

        yield make


@pytest.fixture(scope="session")
def empty_world(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> MakeWorld:
    """Makes worlds without a corpus: `empty_world(root)`, or in a folder of its own."""

    def make(root: Path | None = None, **settings: str) -> World:
        root = root or tmp_path_factory.mktemp("empty")
        (root / "corpus").mkdir(parents=True)
        return make_world(root, Corpus(root / "corpus"), **settings)

    return make


@pytest.fixture(scope="session")
def copied(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> CopyWorld:
    """Makes worlds that go on from a copy of another one: `copied(base, root)`, or in a new folder."""

    def copy(base: World, root: Path | None = None) -> World:
        root = root or tmp_path_factory.mktemp("copied")
        copy_of(base.root, root)
        return make_world(root, base.corpus)

    return copy


@pytest.fixture(scope="session")
def clustered(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Two clusters for either split. Not to be changed: tests go on from copies."""

    def build(root: Path) -> None:
        world = make_world(root, two_sided_corpus(root / "corpus"))
        assert world.ingest().success and world.ingest("others").success
        assert world.run("cluster", SMALL_SETS).success

    root = tmp_path_factory.mktemp("clustered")
    built = once_for_all_workers(tmp_path_factory, "clustered", build)
    copy_of(built, root)
    shutil.copytree(built / "corpus", root / "corpus")
    move_corpus(built, root)
    return make_world(root, Corpus(root / "corpus"))


@pytest.fixture(scope="session")
def released(
    clustered: World, make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory
) -> World:
    """The same, generated and released, with no people required. Not to be changed either."""

    def build(root: Path) -> None:
        copy_of(clustered.root, root)
        world = make_world(root, clustered.corpus)
        assert world.generate().success
        assert world.release().success

    root = tmp_path_factory.mktemp("released")
    copy_of(once_for_all_workers(tmp_path_factory, "released", build), root)
    return make_world(root, clustered.corpus)


@pytest.fixture(scope="session")
def evaluated(
    released: World, make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory
) -> World:
    """The same, with answers, judgments and scores of both models. Not to be changed either."""

    def build(root: Path) -> None:
        copy_of(released.root, root)
        world = make_world(root, released.corpus)
        assert world.evaluate().success
        assert world.score().success

    root = tmp_path_factory.mktemp("evaluated")
    copy_of(once_for_all_workers(tmp_path_factory, "evaluated", build), root)
    return make_world(root, released.corpus)


@pytest.fixture
def world(request: pytest.FixtureRequest, copied: CopyWorld, tmp_path: Path) -> World:
    """A copy of the world that the module names as its `BASE`, to be changed."""
    base: World = request.getfixturevalue(request.module.BASE)
    return copied(base, tmp_path)


@pytest.fixture
def warehouse(empty_warehouse: Warehouse) -> Warehouse:
    """A warehouse of the test's own, for rows that it fills in by hand."""
    return empty_warehouse


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def desk(loom_home: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """People at work in an empty home, under the rules that a test gives as the parameter."""
    made = Desk(loom_home, getattr(request, "param", {}))
    yield made
    made.store.close()
