"""Runs whose process is gone end; those of living processes are let be."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster import DagsterRunStatus
from dagster._core.events import EngineEventData

from dagster_project.dead_runs import dead_runs, end_dead_runs, ending
from dagster_project.held_file import hold_new, is_held
from dagster_project.instance import open_instance
from dagster_project.job_runs import run_job
from dagster_project.live_runs import marking_executor, marks_folder
from resources.files.home import REPO_ROOT

STARTED, CANCELING = DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING
FAILURE, CANCELED = DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED


@pytest.mark.parametrize(
    ("status", "held", "process_exists", "ends_as"),
    [
        # A mark says all: the number may be another process's by now, or another container's.
        (STARTED, True, None, None),
        (STARTED, True, False, None),
        (STARTED, False, None, FAILURE),
        (STARTED, False, True, FAILURE),
        (DagsterRunStatus.STARTING, False, None, FAILURE),
        (DagsterRunStatus.NOT_STARTED, False, None, FAILURE),
        (CANCELING, False, None, CANCELED),
        (CANCELING, True, None, None),
        # Without a mark the number is all there is.
        (STARTED, None, False, FAILURE),
        (STARTED, None, True, None),
        (CANCELING, None, False, CANCELED),
        # Launched, and its process has not said anything yet: Dagster's monitoring waits for it.
        (DagsterRunStatus.STARTING, None, None, None),
        (DagsterRunStatus.NOT_STARTED, None, None, None),
    ],
)
def test_a_run_ends_if_nobody_holds_its_mark_or_without_one_if_its_process_is_gone(
    status: DagsterRunStatus,
    held: bool | None,
    process_exists: bool | None,
    ends_as: DagsterRunStatus | None,
) -> None:
    assert ending(status, held, process_exists) == ends_as


@dg.asset
def one() -> int:
    return 1


@dg.asset
def killer() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


DEFINITIONS = dg.Definitions(
    [one, killer],
    jobs=[dg.define_asset_job("first", [one]), dg.define_asset_job("second", [killer])],
    executor=marking_executor,
)


def first_job() -> dg.JobDefinition:
    return DEFINITIONS.resolve_job_def("first")


@pytest.fixture
def instance(loom_home: Path) -> Iterator[dg.DagsterInstance]:
    with open_instance() as opened:
        yield opened


@pytest.fixture
def gone() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


def started(instance: dg.DagsterInstance, pid: int | None = None) -> dg.DagsterRun:
    """A run that says that it is at work, in the process `pid` if that is given."""
    run = instance.create_run_for_job(first_job(), status=STARTED)
    if pid is not None:
        instance.report_engine_event("Started", run, EngineEventData.in_process(pid))
    return run


def status(instance: dg.DagsterInstance, run: dg.DagsterRun) -> DagsterRunStatus:
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    return found.status


def test_the_run_of_a_killed_process_ends_as_failed_with_the_reason(
    instance: dg.DagsterInstance,
) -> None:
    script = (
        "from tests.dagster_project.test_dead_runs import *\n"
        "run_job(DEFINITIONS.resolve_job_def('second'), open_instance())"
    )
    killed = subprocess.run([sys.executable, "-c", script], cwd=REPO_ROOT, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    (run,) = instance.get_runs()
    assert run.status == STARTED

    assert end_dead_runs(instance) == [f"second {run.run_id}"]

    assert status(instance, run) == FAILURE
    (failed,) = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
    assert failed.dagster_event is not None
    assert (failed.dagster_event.message or "").startswith(
        "The process of this run is gone (killed,"
    )
    assert list(marks_folder(instance).iterdir()) == []
    assert end_dead_runs(instance) == []


def test_a_run_that_was_being_canceled_ends_as_canceled(instance: dg.DagsterInstance) -> None:
    run = started(instance)
    with hold_new(marks_folder(instance) / run.run_id):
        instance.report_run_canceling(run)
        assert end_dead_runs(instance) == []

    end_dead_runs(instance)

    assert status(instance, run) == CANCELED


def test_a_run_whose_mark_is_held_is_let_be_whatever_its_log_says(
    instance: dg.DagsterInstance, gone: int
) -> None:
    """So is one in another container: its processes' numbers mean nothing here."""
    run = started(instance, gone)
    with hold_new(marks_folder(instance) / run.run_id):
        assert end_dead_runs(instance) == []
    assert status(instance, run) == STARTED


def test_without_a_mark_a_run_ends_if_there_is_no_process_of_its_number(
    instance: dg.DagsterInstance, gone: int
) -> None:
    """Runs of an earlier version are such, and runs that were killed before they were marked."""
    dead, alive, unknown = (
        started(instance, gone),
        started(instance, os.getpid()),
        started(instance),
    )

    end_dead_runs(instance)

    assert [status(instance, run) for run in (dead, alive, unknown)] == [FAILURE, STARTED, STARTED]


def test_a_run_that_ends_by_itself_is_marked_while_it_is_at_work_only(
    instance: dg.DagsterInstance,
) -> None:
    assert run_job(first_job(), instance).success
    assert list(marks_folder(instance).iterdir()) == []


def test_a_process_of_the_ui_marks_its_run_until_it_ends(instance: dg.DagsterInstance) -> None:
    """The run's last event comes after its steps: with the mark gone before, it would look dead."""
    script = (
        "from tests.dagster_project.test_dead_runs import *\n"
        "instance = open_instance()\n"
        "done = dg.execute_job(dg.reconstructable(first_job), instance)\n"
        "print(is_held(marks_folder(instance) / done.run_id), done.run_id)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPO_ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    held, run_id = done.stdout.split()[-2:]
    assert held == str(True)
    assert is_held(marks_folder(instance) / run_id) is False
    assert [path.name for path in marks_folder(instance).iterdir()] == [run_id]

    assert end_dead_runs(instance) == []
    assert list(marks_folder(instance).iterdir()) == []


def test_the_sensor_says_which_runs_it_has_ended(instance: dg.DagsterInstance, gone: int) -> None:
    run = started(instance, gone)
    with dg.build_sensor_context(instance) as context:
        ended, nothing = dead_runs(context), dead_runs(context)

    assert ended == dg.SkipReason(f"Ended, as their processes are gone: first {run.run_id}.")
    assert nothing == dg.SkipReason("Every run at work has its process.")
