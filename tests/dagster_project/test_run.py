"""A job from a terminal: it runs as the UI runs it, or a sentence says why not."""

from pathlib import Path

import pytest

from dagster_project.jobs import DESCRIPTIONS
from dagster_project.run import JOBS
from tests.e2e.running import command

RUN = "dagster_project.run"


def test_every_stage_but_that_of_shards_can_be_run_by_itself_and_the_build_of_all() -> None:
    assert set(JOBS) == {*DESCRIPTIONS, "build"} - {"ingest"}


@pytest.mark.parametrize("name", ["", "ingest", "evaluat"])
def test_another_name_is_one_sentence_and_makes_no_home(tmp_path: Path, name: str) -> None:
    done = command(RUN, tmp_path / "home", "--job", name)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"There is no job '{name}' that runs by itself: say JOB=name")
    assert done.stderr.count("\n") == 1 and not (tmp_path / "home").exists()


def test_a_job_runs_and_says_what_it_made(tmp_path: Path) -> None:
    done = command(RUN, tmp_path / "home", "--job", "ledger")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "ledger/costs" in done.stdout


def test_a_job_that_fails_is_said(tmp_path: Path) -> None:
    done = command(RUN, tmp_path / "home", "--job", "cluster")

    assert done.returncode == 1
    assert "There are no entries" in done.stdout
    assert done.stderr == "The run of cluster failed; the log above and the UI (make ui) say why.\n"
