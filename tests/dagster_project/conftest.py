"""What tests of definitions, jobs and commands share."""

import contextlib
import io
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import dagster as dg
import pytest

from dagster_project.cli import main as loom
from dagster_project.instance import open_instance
from dagster_project.job_runs import restore_signal_handlers
from resources.files.home import warehouse_path
from resources.stores_of_home import bring_home_up_to_date
from resources.warehouse import Warehouse
from tests.assets.conftest import signal_handlers
from tests.doubles.remembering_embedder import RememberingEmbedder
from tests.homes.kept import unpack

__all__ = ["signal_handlers"]

Commanded = Callable[..., CompletedProcess[str]]
Typed = Callable[..., Any]
Refused = Callable[..., str]


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


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Typed:
    """`typed("release pin", name, code=0)`: `vlm-loom` with these words; what it printed."""

    def printed(words: str, *more: object, code: int = 0) -> Any:
        capsys.readouterr()
        ended = loom([*words.split(), *map(str, more)])
        found = capsys.readouterr()
        assert ended == code, found
        return found

    return printed


@pytest.fixture
def refused(typed: Typed) -> Refused:
    def sentence(words: str, *more: object) -> str:
        printed = typed(words, *more, code=2)
        assert printed.out == "" and printed.err.count("\n") == 1, printed
        return str(printed.err)

    return sentence


@pytest.fixture(scope="session")
def small_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small home of 0.2.0, brought to this version. Not to be changed: tests copy it."""
    folder = unpack(tmp_path_factory.mktemp("small_home"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOM_WORKSPACE", str(folder))
        bring_home_up_to_date()
    return folder


@pytest.fixture
def folder(loom_home: Path, small_home: Path) -> Path:
    return Path(shutil.copytree(small_home, loom_home))


@pytest.fixture
def tables(loom_home: Path, empty_tables: Path) -> Warehouse:
    """Empty tables of a home: a tenth of making them."""
    loom_home.mkdir(exist_ok=True)
    shutil.copy(empty_tables, warehouse_path())
    return Warehouse(warehouse_path())


@pytest.fixture
def ephemeral() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


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
