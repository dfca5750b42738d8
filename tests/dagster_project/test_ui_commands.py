"""Commands that become a command of Dagster on the workspace."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dagster_project import ui
from dagster_project.ingestion import register_shards
from dagster_project.instance import open_instance
from dagster_project.resources import SAMPLE_CORPUS, corpus_folder
from resources.corpus.corpus import Corpus
from resources.files.home import REPO_ROOT
from resources.warehouse.configured import warehouse_of_home
from tests.assets.filled import put
from tests.dagster_project.conftest import Commanded
from tests.e2e.running import CLI, environment


def test_the_ui_of_a_workspace_needs_no_corpus_and_takes_no_other_one(
    loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    def partitions() -> list[str]:
        with open_instance() as instance:
            return sorted(instance.get_dynamic_partitions("wit_shard"))

    monkeypatch.delenv("LOOM_CORPUS", raising=False)
    put(warehouse_of_home(), {"ingest.shards": [{"wit_shard": "mine"}]})
    ui._prepare_instance()
    assert partitions() == []
    assert "another corpus (mine)" in capsys.readouterr().err, "nothing says which folder it is"

    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in ("mine", "new"):
        shutil.copyfile(SAMPLE_CORPUS / "shards" / "sample-a.tsv", folder / f"{name}.tsv")
    with open_instance() as instance:
        register_shards(instance, Corpus(folder, loom_home), ["mine"])
    ui._prepare_instance()
    assert partitions() == ["mine", "new"] and corpus_folder().path == folder

    folder.rename(tmp_path / "elsewhere")
    ui._prepare_instance()
    assert f"{folder}, which is not there any more: give --corpus" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nonsense", "There is no command nonsense: check its name."),
        ("/etc/passwd", "'/etc/passwd' cannot be run (Permission denied): check its name."),
    ],
)
def test_a_command_that_cannot_be_run_is_a_sentence(
    tmp_path: Path, name: str, said: str, commanded: Commanded
) -> None:
    done = commanded(tmp_path / "home", "exec", name)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_command_runs_on_the_workspace_and_a_script_may_stop_it_in_the_background(
    tmp_path: Path,
) -> None:
    asks = "import os, signal; print(os.environ['DAGSTER_HOME'], signal.getsignal(signal.SIGINT))"
    done = subprocess.run(
        ["sh", "-c", '"$@" & wait', "sh", sys.executable, "-m", CLI, "exec", "python", "-c", asks],
        env=environment(tmp_path / "home"),
        cwd=REPO_ROOT,
        capture_output=True,
        text=True,
    )
    assert "default_int_handler" in done.stdout, done.stderr
    assert done.stdout.startswith(f"{tmp_path / 'home' / 'dagster'} ")
    written = (tmp_path / "home" / "dagster" / "dagster.yaml").read_text()
    assert "dagster_project.run_processes" in written
