"""Runs whose processes and UI are gone end as failed when the next UI begins."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.running import Run
from tests.e2e.starting import processes_of
from tests.e2e.ui import serving

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]


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
