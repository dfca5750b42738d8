"""What tests of definitions, jobs and commands share."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from dagster_project.interrupts import handlers_kept


@pytest.fixture(autouse=True)
def signal_handlers() -> Iterator[None]:
    """A run in process leaves the handlers of signals as they were, however a test starts it."""
    with handlers_kept():
        yield


@pytest.fixture(scope="session")
def new_instance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an instance without runs. Not to be changed: making its tables takes a second."""
    folder = tmp_path_factory.mktemp("instance") / "dagster"
    folder.mkdir()
    (folder / "dagster.yaml").write_text("telemetry: {enabled: false}")
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        instance.get_dynamic_partitions("none")
        instance.get_runs(limit=1)
        instance.get_asset_keys(limit=1)
        instance.all_instigator_state()
    return folder


@pytest.fixture
def instance(loom_home: Path, new_instance: Path, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """An instance of its own, on disk as a real one, and an empty home."""
    shutil.copytree(new_instance, tmp_path / "dagster")
    with dg.DagsterInstance.from_config(str(tmp_path / "dagster")) as opened:
        yield opened
