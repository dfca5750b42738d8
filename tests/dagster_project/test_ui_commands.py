"""Commands that become a command of Dagster on the workspace."""

from pathlib import Path

from tests.e2e.running import command


def test_exec_runs_a_command_of_dagster_on_the_workspace(tmp_path: Path) -> None:
    done = command(tmp_path / "home", "exec", "dagster", "instance", "info")
    assert done.returncode == 0, done.stderr
    assert f"$DAGSTER_HOME: {tmp_path / 'home' / 'dagster'}" in done.stdout
    assert "dagster_project.run_processes" in done.stdout


def test_exec_hands_options_and_the_exit_code_on(tmp_path: Path) -> None:
    done = command(tmp_path / "home", "exec", "python", "-c", "import sys; sys.exit(7)")
    assert done.returncode == 7


def test_a_command_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    done = command(tmp_path / "home", "exec", "nonsense")
    assert done.returncode == 2
    assert "There is no command nonsense: check its name." in done.stderr
