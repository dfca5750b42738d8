"""Processes that are killed while the UI runs: their runs end, and the queue goes on."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dagster_project.run_tags import BUILD
from tests.e2e.running import Run
from tests.e2e.starting import Started, processes_of, started
from tests.e2e.ui import Ui, serving

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]

ENGINE_EVENTS = """
query ($run: ID!) {
  logsForRun(runId: $run) {
    ... on EventConnection { events { ... on MessageEvent { message } } }
  }
}
"""
AT_WORK = ["NOT_STARTED", "STARTING", "STARTED", "CANCELING"]


@pytest.fixture
def ui(copied: Run, tmp_path: Path) -> Iterator[Ui]:
    with serving(copied.home, tmp_path / "ui.log") as running:
        yield running


def launched(ui: Ui, job: str) -> str:
    """The id of the run that the UI has launched."""
    return str(ui.launch(job)["run"]["runId"])


def process_of(ui: Ui, run: str) -> int:
    """The process that executes a run of the UI's, once it has begun."""

    def said() -> re.Match[str] | None:
        events = ui.ask(ENGINE_EVENTS, run=run)["logsForRun"]["events"]
        text = " ".join(event.get("message", "") for event in events)
        return re.search(r"Started process for run \(pid: (\d+)\)", text)

    return int(ui.started.wait_for(said)[1])


def wait_until_nothing_is_at_work(ui: Ui) -> None:
    ui.started.wait_for(lambda: not ui.runs(statuses=AT_WORK))


def kill_in_the_middle(ui: Ui, demo: Started) -> list[str]:
    """Kill the demo while a run of its `build` is at work; the ids of the runs that it leaves so."""
    demo.wait_for(lambda: ui.runs(pipelineName="build", statuses=["STARTED"]))
    os.kill(demo.process.pid, signal.SIGKILL)
    demo.process.wait()
    left = [
        run["id"]
        for run in ui.runs(statuses=AT_WORK)
        if run["jobName"] == "build" or any(tag["key"] == BUILD for tag in run["tags"])
    ]
    assert left
    return left


def test_runs_of_a_killed_demo_and_of_a_killed_build_end_as_failed_and_the_next_run_succeeds(
    ui: Ui, copied: Run, tmp_path: Path
) -> None:
    before = {run["id"] for run in ui.runs()}
    with started("dagster_project.demo", copied.home, tmp_path / "demo.log") as demo:
        left = kill_in_the_middle(ui, demo)
    wait_until_nothing_is_at_work(ui)
    assert {ui.status(run) for run in left} == {"FAILURE"}

    build = launched(ui, "build")
    stages = {"tags": [{"key": BUILD, "value": build}]}
    process = process_of(ui, build)
    ui.started.wait_for(lambda: ui.runs(**stages, statuses=["STARTED"]))
    os.kill(process, signal.SIGKILL)
    at_work = [run["id"] for run in ui.runs(**stages, statuses=AT_WORK)]
    wait_until_nothing_is_at_work(ui)
    assert {ui.status(run) for run in [build, *at_work]} == {"FAILURE"}
    assert {run["status"] for run in ui.runs(**stages)} <= {"SUCCESS", "FAILURE"}

    assert ui.ended(launched(ui, "ledger")) == "SUCCESS"
    assert before <= {run["id"] for run in ui.runs()}


def test_four_builds_whose_ui_is_gone_with_them_leave_the_next_ui_free(
    copied: Run, tmp_path: Path
) -> None:
    """As after a reboot: nobody is left to say that the runs have ended."""
    with serving(copied.home, tmp_path / "first.log") as ui:
        builds = [launched(ui, "build") for _ in range(4)]
        ui.started.wait_for(lambda: len(ui.runs(statuses=["STARTED"])) > 4)
        while processes := processes_of(copied.home):
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        ui.started.process.wait()

    with serving(copied.home, tmp_path / "second.log") as ui:
        assert ui.started.printed.startswith("Ended, as their processes are gone: ")
        assert {ui.ended(build) for build in builds} == {"FAILURE"}
        assert not ui.runs(statuses=["STARTED"])
        assert ui.ended(launched(ui, "ledger")) == "SUCCESS"


def test_the_next_demo_ends_what_a_killed_one_left(copied: Run, tmp_path: Path) -> None:
    with serving(copied.home, tmp_path / "ui.log") as ui:
        with started("dagster_project.demo", copied.home, tmp_path / "first.log") as demo:
            left = kill_in_the_middle(ui, demo)
        with started("dagster_project.demo", copied.home, tmp_path / "second.log") as demo:
            demo.wait_for(lambda: "== build" in demo.printed)
            assert {ui.status(run) for run in left} == {"FAILURE"}
            assert demo.process.wait() == 0
