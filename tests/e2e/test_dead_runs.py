"""Processes that are killed while the UI runs: their runs end, and the queue goes on."""

import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.running import Run
from tests.e2e.starting import processes_of, started
from tests.e2e.ui import Ui, serving

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]

ENGINE_EVENTS = """
query ($run: ID!) {
  logsForRun(runId: $run) {
    ... on EventConnection { events { ... on MessageEvent { message } } }
  }
}
"""


def process_of(ui: Ui, run: str) -> int:
    """The process that executes a run of the UI's, once it has begun."""

    def said() -> re.Match[str] | None:
        events = ui.ask(ENGINE_EVENTS, run=run)["logsForRun"]["events"]
        text = " ".join(event.get("message", "") for event in events)
        return re.search(r"Started process for run \(pid: (\d+)\)", text)

    return int(ui.started.wait_for(said)[1])


@pytest.mark.nightly
def test_a_killed_build_of_a_terminal_and_one_of_the_ui_end_as_failed(
    tmp_path: Path,
) -> None:
    # Both are first starts on a new home.
    home = tmp_path / "home"
    with (
        started("build", home, tmp_path / "demo.log") as demo,
        serving(home, tmp_path / "ui.log") as ui,
    ):
        demo.wait_for(lambda: ui.runs(pipelineName="build", statuses=["STARTED"]))
        (first,) = ui.runs(pipelineName="build")
        # A build of the UI waits in the queue for that of the terminal.
        build = ui.launch("build")
        assert ui.status(build) in ("QUEUED", "NOT_STARTED")
        os.kill(demo.process.pid, signal.SIGKILL)
        demo.process.wait()
        killed = time.monotonic()
        ui.started.wait_for(lambda: ui.status(first["id"]) == "FAILURE")
        assert time.monotonic() - killed < 60

        process = process_of(ui, build)
        ui.started.wait_for(lambda: ui.status(build) == "STARTED")
        os.kill(process, signal.SIGKILL)
        ui.started.wait_for(lambda: ui.status(build) == "FAILURE")


@pytest.mark.nightly
def test_runs_whose_ui_is_gone_with_them_leave_the_next_ui_free(
    copied: Run, tmp_path: Path
) -> None:
    """As after a reboot: nobody is left to say that the runs have ended."""
    with serving(copied.home, tmp_path / "first.log") as ui:
        runs = [ui.launch(job) for job in ("build", "evaluate")]
        ui.started.wait_for(lambda: len(ui.runs(statuses=["STARTED"])) == len(runs))
        while processes := processes_of(copied.home):
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        ui.started.process.wait()

    with serving(copied.home, tmp_path / "second.log") as ui:
        assert "Ended, as their processes are gone: " in ui.started.printed
        assert {ui.ended(run) for run in runs} == {"FAILURE"}
        assert not ui.runs(statuses=["STARTED"])
        assert ui.ended(ui.launch("ledger")) == "SUCCESS"
