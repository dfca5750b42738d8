"""Fixtures for all tests: an empty home, and the browser where there is one."""

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from multiprocessing import forkserver
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from resources import command_line
from resources.warehouse import Warehouse
from tests.browser import FLAGS
from tests.doubles.serving import free_ports, serving
from tests.shared import once_for_all_workers

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.doubles.servers import PostgresServer, S3Server
    from tests.resources.images.upload_double import UploadDouble

pytest_plugins = [
    "tests.plugins.backends",
    "tests.plugins.golden",
    "tests.plugins.leaks",
    "pytester",
]

# A busy machine is slow, not wrong: without a deadline no law fails by the time it takes. CI tries the
# same examples each time, so a failure can be repeated. `--hypothesis-profile` chooses another one.
settings.register_profile("quick", max_examples=15, deadline=None, derandomize=True)
settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=300, deadline=None)
settings.load_profile("ci")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs the whole main job begins first, so that no worker is alone with it at the end."""
    items.sort(key=lambda item: "main_job" not in getattr(item, "fixturenames", ()))


def pytest_collection_finish() -> None:
    """What is there before the first test stays to the end: garbage is looked for among the rest."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The loop of tests that are `async def`."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def nobody_elses_instance() -> None:
    """No test stands on the Dagster instance of who runs the tests, which may not even be there."""
    os.environ.pop("DAGSTER_HOME", None)


@pytest.fixture(scope="session", autouse=True)
def nobody_elses_make() -> None:
    """A `make` that a test starts is no part of the `make` that runs the tests."""
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
        os.environ.pop(name, None)


@pytest.fixture(scope="session", autouse=True)
def processes_of_the_run(nobody_elses_instance: None, nobody_elses_make: None) -> None:
    """Processes of `PROCESSES` have the environment of the run, not that of the first test with one."""
    forkserver.ensure_running()


@pytest.fixture(autouse=True)
def no_instance_of_an_earlier_test() -> Iterator[None]:
    """Instances of Dagster that end in another order than they began leave an ended one current."""
    if "dagster" not in sys.modules:
        yield
        return
    from dagster._core.storage.defs_state.base import set_defs_state_storage

    with set_defs_state_storage(None):
        yield


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """What a command's options set in a test (`--profile` sets LOOM_PROFILE) ends with the test."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() | before.keys():
        if name.startswith("LOOM_") and os.environ.get(name) != before.get(name):
            os.environ.pop(name, None)
            os.environ.update({name: before[name]} if name in before else {})


@pytest.fixture(autouse=True)
def nothing_said_of_the_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of a command reads what that says by itself; test_command_line.py has the first line."""
    monkeypatch.setattr(command_line, "say_workspace", lambda: None)


@pytest.fixture
def loom_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, and nothing of the caller's environment that would change a run."""
    for name in list(os.environ):
        if name.startswith(("LOOM_", "OPENAI_")) and not name.startswith("LOOM_REQUIRE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "home"))
    # The commands set it, and a later test is not to find it.
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home" / "dagster"))
    return tmp_path / "home"


@pytest.fixture
def uploads() -> Iterator["UploadDouble"]:
    """A server of images."""
    from tests.resources.images.upload_double import UploadDouble

    with serving(UploadDouble()) as uploads:
        yield uploads


def require(found: object, message: str, variable: str) -> None:
    """Skip a test without a package of Debian's, or fail it where the variable requires it."""
    if not found:
        (pytest.fail if os.environ.get(variable) else pytest.skip)(message)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of Debian's Chromium."""
    path = shutil.which("chromium")
    message = "no browser: install Debian's package chromium to run the browser tests"
    require(path, message, "LOOM_REQUIRE_BROWSER")
    return str(path)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator["Browser"]:
    """A browser for the tests of a file."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator["PostgresServer"]:
    """A Postgres server of the worker's own."""
    from tests.doubles.servers import postgres_binaries, running_postgres

    binaries = postgres_binaries()
    message = "no Postgres: install Debian's package postgresql to run the tests on it"
    require(binaries, message, "LOOM_REQUIRE_POSTGRES")
    assert binaries is not None
    with running_postgres(binaries, *free_ports(1)) as server:
        yield server


@pytest.fixture(scope="session")
def s3() -> Iterator["S3Server"]:
    """An S3 server of the worker's own."""
    from tests.doubles.servers import running_s3

    with running_s3() as server:
        yield server


@pytest.fixture(scope="session")
def empty_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse's file without rows, to be copied: a tenth of making another."""

    def make(folder: Path) -> None:
        Warehouse(folder / "warehouse.duckdb").check()

    made = once_for_all_workers(tmp_path_factory, "empty_warehouse", make)
    return made / "warehouse.duckdb"


@pytest.fixture
def empty_warehouse(empty_tables: Path, tmp_path: Path) -> Warehouse:
    """A warehouse of the test's own, whose tables have no rows."""
    return Warehouse(Path(shutil.copy(empty_tables, tmp_path / "warehouse.duckdb")))
