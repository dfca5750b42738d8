"""What tests of definitions, jobs and commands share."""

import contextlib
import io
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import dagster as dg
import pytest

from dagster_project.cli import main as loom
from dagster_project.instance import open_instance
from dagster_project.job_runs import restore_signal_handlers
from resources.stores_of_home import bring_home_up_to_date
from tests.doubles.remembering_embedder import RememberingEmbedder
from tests.homes.kept import unpack

Commanded = Callable[..., CompletedProcess[str]]


@pytest.fixture(autouse=True)
def signal_handlers() -> Iterator[None]:
    """A run in process leaves the handlers of signals as they were, however a test starts it."""
    with restore_signal_handlers():
        yield


@pytest.fixture(scope="session")
def commanded() -> Commanded:
    """`commanded(home, *arguments, **settings)`: `vlm-loom` as a person calls it, in this process and
    without the caller's own settings. The model of texts is loaded once for all."""
    embedder = RememberingEmbedder()

    def done(home: Path, *arguments: str, **settings: str) -> CompletedProcess[str]:
        out, err = io.StringIO(), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            restore_signal_handlers(),
        ):
            for name in [each for each in os.environ if each.startswith(("LOOM_", "OPENAI_"))]:
                patch.delenv(name)
            for name, value in {"LOOM_WORKSPACE": str(home), **settings}.items():
                patch.setenv(name, value)
            patch.setattr("resources.embedding.process.EmbedderProcess", lambda *_: embedder)
            code = loom(arguments)
        return CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    return done


@pytest.fixture(scope="session")
def small_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small home of 0.2.0, brought to this version. Not to be changed: tests copy it."""
    folder = unpack(tmp_path_factory.mktemp("small_home"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOM_WORKSPACE", str(folder))
        bring_home_up_to_date()
    return folder


def import_into(home: Path, *words: str) -> None:
    """`vlm-loom release import` on a home that is not the test's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOM_WORKSPACE", str(home))
        patch.setenv("DAGSTER_HOME", str(home / "dagster"))
        assert loom(["release", "import", *words]) == 0


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
def instance(loom_home: Path, new_instance: Path) -> Iterator[dg.DagsterInstance]:
    """The instance of an empty home, on disk as a real one."""
    shutil.copytree(new_instance, loom_home / "dagster")
    with open_instance() as opened:
        yield opened
