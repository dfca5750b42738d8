"""Commands that become a command of Dagster on the workspace."""

import subprocess
import sys
from pathlib import Path

import pytest

from resources.files.home import REPO_ROOT
from tests.dagster_project.conftest import Commanded
from tests.e2e.running import CLI, command, environment


def test_exec_runs_a_command_of_dagster_on_the_workspace(tmp_path: Path) -> None:
    done = command(tmp_path / "home", "exec", "dagster", "instance", "info")
    assert done.returncode == 0, done.stderr
    assert f"$DAGSTER_HOME: {tmp_path / 'home' / 'dagster'}" in done.stdout
    assert "dagster_project.run_processes" in done.stdout


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


def test_a_command_that_a_script_starts_in_the_background_can_be_stopped(tmp_path: Path) -> None:
    asks = "import signal; print(signal.getsignal(signal.SIGINT))"
    done = subprocess.run(
        ["sh", "-c", '"$@" & wait', "sh", sys.executable, "-m", CLI, "exec", "python", "-c", asks],
        env=environment(tmp_path / "home"),
        cwd=REPO_ROOT,
        capture_output=True,
        text=True,
    )
    assert "default_int_handler" in done.stdout, done.stderr
