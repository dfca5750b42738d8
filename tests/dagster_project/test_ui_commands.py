"""Commands that serve: the UI, the page of model calls, and commands of Dagster on the workspace."""

import logging
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest

from dagster_project import dev, ui
from dagster_project.ingestion import register_shards
from dagster_project.instance import open_instance
from dagster_project.resources import SAMPLE_CORPUS, corpus_folder
from resources.corpus.corpus import Corpus
from resources.files.home import REPO_ROOT
from resources.warehouse.configured import warehouse_of_home
from resources.web.addresses import CALLS
from tests.assets.filled import put
from tests.doubles.serving import free_ports
from tests.e2e.running import CLI, environment, started
from tests.resources.calls_page.ledgers import call, keep


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
def test_a_command_that_cannot_be_run_is_a_sentence(tmp_path, name, said, commanded):
    done = commanded(tmp_path / "home", "exec", name)
    assert done.returncode == 2 and said in done.stderr


def test_a_command_runs_on_the_workspace_and_a_script_may_stop_it_in_the_background(tmp_path):
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


@pytest.mark.slow
def test_the_page_of_calls_serves_until_ctrl_c_and_a_second_one_is_refused(tmp_path, commanded):
    home, (port,) = tmp_path / "home", free_ports(1)
    home.mkdir()
    keep(home, call(1, "A red ground."))
    with started("calls", home, tmp_path / "log", PORT=str(port)) as page:
        answer = None
        while answer is None:
            try:
                answer = httpx2.get(f"http://127.0.0.1:{port}/", follow_redirects=True, timeout=60)
            except httpx2.ConnectError:
                assert page.process.poll() is None, page.printed
                time.sleep(0.05)
        second = commanded(home, "calls", PORT=str(port))
        page.process.send_signal(signal.SIGINT)
        page.process.wait(60)
    assert "A red ground." in answer.text
    assert second.returncode == 2 and second.stderr.endswith("choose another with --port.\n")
    address = f"http://127.0.0.1:{port}{CALLS}"
    said = f"Workspace: {home}\nModel calls on {address} (Ctrl-C stops it)\n"
    assert page.printed.startswith(said) and "Traceback" not in page.printed


@pytest.mark.parametrize("killed", ["dagster-daemon shut down unexpectedly with code -9", ""])
def test_the_end_of_a_service_of_the_ui_is_a_sentence_and_an_exit_code_and_a_stop_is_0(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, killed: str
) -> None:
    def dev_command(*, standalone_mode: bool) -> None:
        """Logs an error as `dagster dev` does, where there is one."""
        try:
            if killed:
                raise RuntimeError(killed)
        except RuntimeError:
            logging.getLogger("dagster").exception("An unexpected exception has occurred")

    module = SimpleNamespace(open_ipc_subprocess=None, dev_command=dev_command)
    monkeypatch.setattr(dev, "module_of_dagster_dev", lambda: module)
    # A process runs the UI once, and tests do so twice.
    monkeypatch.setattr(logging.getLogger("dagster"), "filters", [])
    assert dev.main() == (1 if killed else 0)
    assert (f"The UI ends ({killed}): start vlm-loom ui again." in caplog.text) == bool(killed)
    assert "Traceback" not in caplog.text
