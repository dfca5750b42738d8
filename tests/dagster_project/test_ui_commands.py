"""Commands that become a command of Dagster on the workspace."""

import subprocess
import sys
from pathlib import Path

import pytest

from resources.files.home import REPO_ROOT
from tests.dagster_project.conftest import Commanded
from tests.e2e.running import CLI, environment


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
