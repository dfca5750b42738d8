"""Runs whose process is gone end as failed; those of living processes are let be."""

import json
import os
import signal
import subprocess
import sys

import dagster as dg
import pytest
from dagster import DagsterRunStatus
from dagster._core.launcher import WorkerStatus
from dagster._core.storage.tags import GRPC_INFO_TAG

from dagster_project.job_runs import run_job
from dagster_project.run_processes import (
    AT_WORK,
    KILLED,
    RunLauncher,
    _identity,
    end_dead_runs,
    executor,
    is_gone,
    own_process,
)
from dagster_project.run_tags import BUILD, PROCESS
from resources.files.home import REPO_ROOT


@dg.asset
def one() -> int:
    return 1


@dg.asset
def killer() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


DEFINITIONS = dg.Definitions(
    [one, killer],
    jobs=[dg.define_asset_job("first", [one]), dg.define_asset_job("second", [killer])],
    executor=executor,
)


def first_job() -> dg.JobDefinition:
    return DEFINITIONS.resolve_job_def("first")


def second_job() -> dg.JobDefinition:
    return DEFINITIONS.resolve_job_def("second")


HOST, BOOT, NAMESPACE, PID, START = own_process().split()


@pytest.mark.parametrize(
    ("process", "gone"),
    [
        ((HOST, BOOT, NAMESPACE, PID, START), False),
        # The process id was given to another process.
        ((HOST, BOOT, NAMESPACE, PID, "1"), True),
        # The machine was booted, or the container started again.
        ((HOST, "another-boot", NAMESPACE, PID, START), True),
        ((HOST, BOOT, "1", PID, START), True),
        # Another machine or container: it cannot be seen from here.
        (("elsewhere", BOOT, "1", "4194305", "1"), False),
    ],
)
def test_a_process_is_gone_if_this_machine_has_no_process_of_its_number_and_start(
    process: tuple[str, ...], gone: bool
) -> None:
    assert is_gone(" ".join(process)) == gone


def test_a_process_that_has_ended_is_gone() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as ended:
        process = _identity(ended.pid)
        assert not is_gone(process)
    assert is_gone(process)


def test_the_run_of_a_killed_process_ends_as_failed_with_the_reason(
    instance: dg.DagsterInstance,
) -> None:
    """The process of a launched run; a run of a terminal has the same tag."""
    script = (
        "from dagster_project.instance import open_instance\n"
        "from tests.dagster_project.test_run_processes import *\n"
        "dg.execute_job(dg.reconstructable(second_job), open_instance())"
    )
    killed = subprocess.run([sys.executable, "-c", script], cwd=REPO_ROOT, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    (run,) = instance.get_runs()
    assert run.status == DagsterRunStatus.STARTED
    # What run monitoring asks.
    launcher = instance.run_launcher
    assert isinstance(launcher, RunLauncher) and instance.run_monitoring_enabled
    assert launcher.check_run_worker_health(run).status == WorkerStatus.FAILED

    storage = instance.event_log_storage
    assert storage.claim_concurrency_slot("models", run.run_id, "killer").is_claimed

    assert end_dead_runs(instance) == [f"second {run.run_id}"]

    assert storage.get_concurrency_info("models").active_slot_count == 0
    (failed,) = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
    assert failed.dagster_event is not None
    assert (failed.dagster_event.message or "").startswith("The process of this run is gone (")
    assert end_dead_runs(instance) == []


def test_a_run_at_work_and_one_without_a_process_are_let_be_and_one_that_never_started_is_ended(
    instance: dg.DagsterInstance,
) -> None:
    runs = [
        instance.create_run_for_job(first_job(), status=DagsterRunStatus.STARTED, tags=tags)
        for tags in ({PROCESS: own_process()}, {})
    ]
    storage = instance.event_log_storage
    storage.claim_concurrency_slot("models", runs[0].run_id, "one")
    assert end_dead_runs(instance) == []
    assert storage.get_concurrency_info("models").active_slot_count == 1
    healths = [instance.run_launcher.check_run_worker_health(run).status for run in runs]
    assert healths == [WorkerStatus.RUNNING] * 2

    # It blocks no build.
    gone = {PROCESS: f"{HOST} {BOOT} {NAMESPACE} {PID} 0", BUILD: "yes"}
    for status in (DagsterRunStatus.NOT_STARTED, DagsterRunStatus.STARTING):
        run = instance.create_run_for_job(first_job(), status=status, tags=gone)
        assert end_dead_runs(instance) == [f"first {run.run_id}"]
        assert instance.get_runs(dg.RunsFilter(tags={BUILD: "yes"}, statuses=AT_WORK)) == []


def test_terminate_reaches_a_process_whose_code_server_is_gone(
    instance: dg.DagsterInstance,
) -> None:
    script = (
        "import time\n"
        "try: print('begun', flush=True); time.sleep(60)\n"
        "except KeyboardInterrupt: print('interrupted', flush=True); time.sleep(60)\n"
    )
    command = [sys.executable, "-c", script]
    server = json.dumps({"host": "localhost", "socket": "/nowhere/code-server"})
    with subprocess.Popen(command, cwd=REPO_ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        tags = {PROCESS: _identity(process.pid), GRPC_INFO_TAG: server}
        started = DagsterRunStatus.STARTED
        run_id = instance.create_run_for_job(first_job(), status=started, tags=tags).run_id
        try:
            assert instance.run_launcher.terminate(run_id)
            assert process.stdout.readline() == "interrupted\n"
            run = instance.get_run_by_id(run_id)
            assert run is not None and run.status == DagsterRunStatus.CANCELING
            # What run monitoring calls after cancel_timeout_seconds.
            assert instance.run_launcher.get_run_worker_debug_info(run) == KILLED
            assert process.wait(10) == -signal.SIGKILL
        finally:
            process.kill()


@pytest.mark.parametrize(
    "process",
    [
        ("elsewhere", BOOT, NAMESPACE, PID, START),
        # The process id was given to another process.
        (HOST, BOOT, NAMESPACE, PID, "1"),
    ],
)
def test_terminate_signals_no_process_that_is_not_of_the_run(
    instance: dg.DagsterInstance, process: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.kill", lambda *_: pytest.fail("a process was signaled"))
    tags = {PROCESS: " ".join(process)}
    run = instance.create_run_for_job(first_job(), status=DagsterRunStatus.STARTED, tags=tags)
    assert not instance.run_launcher.terminate(run.run_id)


def test_a_run_has_its_process_as_a_tag(instance: dg.DagsterInstance) -> None:
    done = run_job(first_job(), instance)
    run = instance.get_run_by_id(done.run_id)
    assert run is not None and run.tags[PROCESS] == own_process()
