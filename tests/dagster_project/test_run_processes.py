"""Runs in this process, the program and its signals, and runs whose process is gone."""

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import tomllib
import weakref
from contextlib import suppress

import dagster as dg
import pytest
from dagster import DagsterRunStatus
from dagster._core.storage.tags import GRPC_INFO_TAG, REPOSITORY_LABEL_TAG
from dagster._utils.interrupts import raise_interrupts_as

from dagster_project.job_runs import resend_interrupts, restore_signal_handlers, run_job
from dagster_project.run_processes import (
    AT_WORK,
    KILLED,
    _identity,
    end_dead_runs,
    executor,
    is_gone,
    own_process,
)
from dagster_project.run_tags import BUILD, MAX_RETRIES, PROCESS
from dagster_project.sensors import dead_runs
from resources.files.home import REPO_ROOT


def job_of(name: str, error: BaseException | None = None) -> dg.JobDefinition:
    @dg.op(name=f"{name}_op")
    def step() -> None:
        if error:
            raise error

    return dg.GraphDefinition(name, node_defs=[step]).to_job()


@pytest.mark.slow
def test_a_run_has_the_projects_code_location_also_if_it_fails_and_no_daemon_executes_it_again(
    instance: dg.DagsterInstance,
) -> None:
    assert run_job(job_of("inner"), instance).success
    assert not run_job(job_of("failing", dg.Failure()), instance).success
    assert job_of("inner").execute_in_process(instance=instance).success, "which is left as it is"
    origins = [run.remote_job_origin for run in instance.get_runs()]
    assert [
        (each.location_name, each.repository_origin.repository_name, each.job_name)
        for each in origins
        if each
    ] == [
        ("vlm-loom", "__repository__", "failing"),
        ("vlm-loom", "__repository__", "inner"),
    ]
    # What a job's page asks for.
    of_location = dg.RunsFilter(tags={REPOSITORY_LABEL_TAG: "__repository__@vlm-loom"})
    assert instance.get_runs_count(of_location) == 2
    assert not instance.run_retries_enabled


@pytest.mark.slow
def test_an_interrupt_ends_a_run_and_is_not_called_a_failure(instance, capsys):
    with pytest.raises(KeyboardInterrupt, match="the same command goes on from it"):
        run_job(job_of("interrupted", KeyboardInterrupt()), instance)
    (run,) = instance.get_runs()
    assert run.status == dg.DagsterRunStatus.FAILURE
    assert "FAILED" not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_that_waits_for_a_pool(instance, number: int) -> None:
    @dg.op(pool="models")
    def asks() -> None: ...

    slots = instance.event_log_storage
    slots.claim_concurrency_slot("models", "another run", "asks")
    stop = threading.Timer(2, os.kill, [os.getpid(), number])
    give_up = threading.Timer(30, slots.free_concurrency_slots_for_run, ["another run"])
    stop.start(), give_up.start()
    with pytest.raises(KeyboardInterrupt):
        run_job(dg.GraphDefinition("waiting", node_defs=[asks]).to_job(), instance)
    give_up.cancel()
    assert slots.get_concurrency_info("models").active_slot_count == 1, "of the other run"


@pytest.mark.slow
def test_a_run_whose_events_cannot_be_stored_says_why(instance, monkeypatch, capsys):
    store = instance.event_log_storage.store_event

    def full(event: dg.EventLogEntry) -> None:
        if event.dagster_event and event.dagster_event.is_engine_event:
            raise sqlite3.OperationalError("database or disk is full")
        store(event)

    monkeypatch.setattr(instance.event_log_storage, "store_event", full)
    assert not run_job(job_of("inner"), instance).success
    assert "FAILED: The disk of " in capsys.readouterr().out


@pytest.mark.slow
def test_handlers_of_signals_are_as_before_a_run_also_when_it_raises() -> None:
    with restore_signal_handlers():  # Those of pytest.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with pytest.raises(RuntimeError), restore_signal_handlers():
            assert job_of("one").execute_in_process().success
            raise RuntimeError
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_an_object_is_collected_is_not_lost(number: int) -> None:
    """Python drops what is raised there; the run would go on to its end."""

    class Collected:
        pass

    def interrupt(_: object) -> None:
        os.kill(os.getpid(), number)
        time.sleep(0.01)

    went_on = False
    with (
        restore_signal_handlers(),
        resend_interrupts(),
        suppress(dg.DagsterExecutionInterruptedError),
        raise_interrupts_as(dg.DagsterExecutionInterruptedError),
    ):
        collected = Collected()
        kept = weakref.ref(collected, interrupt)
        del collected
        time.sleep(5)
        went_on = True
    assert not went_on and kept() is None


PROGRAM = "dagster_project.__main__"
INTERRUPTED_IMPORT = f"""
import os, signal, sys
from importlib.abc import MetaPathFinder

class Interrupt(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "methods.review":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from {PROGRAM} import main
sys.exit(main())
"""
HUNG_UP = f"""
import os, signal, sys
from types import SimpleNamespace

terms = []

def work():
    signal.signal(signal.SIGTERM, lambda number, _frame: terms.append(number))
    sys.stdin.readline()
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGHUP)
    print("still here", flush=True)
    return len(terms)  # The exit status.

sys.modules["dagster_project.cli"] = SimpleNamespace(main=work)
from {PROGRAM} import main
sys.exit(main())
"""

PRINTING = f"""
import subprocess, sys
from types import SimpleNamespace

def work():
    print(chr(0x2026), flush=True)
    return subprocess.run([sys.executable, "-c", "print(chr(0x2026))"]).returncode

sys.modules["dagster_project.cli"] = SimpleNamespace(main=work)
from {PROGRAM} import main
sys.exit(main())
"""


def run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*command], cwd=REPO_ROOT, capture_output=True, text=True, timeout=300)


def test_ctrl_c_while_modules_are_imported_ends_the_program_without_a_word() -> None:
    done = run(sys.executable, "-c", INTERRUPTED_IMPORT)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_a_background_job_of_a_shell_goes_on_ignoring_ctrl_c() -> None:
    ignoring = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    asking = "sys.argv[1:] = ['--help']"
    done = run(sys.executable, "-c", f"{ignoring}; {asking}{INTERRUPTED_IMPORT}")
    assert done.returncode == 0 and "Usage:" in done.stdout, done.stderr


def test_a_closed_terminal_is_one_sigterm_and_what_is_printed_then_is_no_error() -> None:
    ours, terminal = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-c", HUNG_UP],
        cwd=REPO_ROOT,
        stdin=subprocess.PIPE,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    os.close(ours)
    program.communicate(b"go on\n", timeout=300)
    assert program.returncode == 1


def test_below_nohup_the_program_goes_on_when_the_terminal_is_closed() -> None:
    done = run("nohup", sys.executable, "-c", HUNG_UP)
    assert (done.returncode, done.stdout) == (0, "still here\n")


@pytest.mark.parametrize(
    ("variables", "printed"),
    [
        (["PYTHONIOENCODING=ascii"], "\\u2026"),
        (["PYTHONIOENCODING=latin-1:strict"], "\\u2026"),
        (["LC_ALL=C", "PYTHONCOERCECLOCALE=0", "PYTHONUTF8=0"], "\\u2026"),
        (["LC_ALL=C.UTF-8"], "…"),
    ],
)
def test_a_character_that_the_terminal_does_not_have_ends_no_process_of_a_command(
    variables, printed
):
    done = run("env", *variables, sys.executable, "-c", PRINTING)
    assert (done.returncode, done.stdout) == (0, f"{printed}\n{printed}\n"), done.stderr


def test_the_command_that_is_installed_is_this_program() -> None:
    project = tomllib.loads((REPO_ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"vlm-loom": f"{PROGRAM}:main"}


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
def test_a_process_is_gone_if_this_machine_has_no_process_of_its_number_and_start(process, gone):
    assert is_gone(" ".join(process)) == gone


def test_the_run_of_a_killed_process_ends_as_failed_with_the_reason(instance):
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
    storage = instance.event_log_storage
    assert storage.claim_concurrency_slot("models", run.run_id, "killer").is_claimed

    with dg.build_sensor_context(instance) as context:
        ended = dead_runs(context)
    assert isinstance(ended, dg.SkipReason)
    assert ended.skip_message == f"Ended: second {run.run_id}."

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

    # It blocks no build.
    gone = {PROCESS: f"{HOST} {BOOT} {NAMESPACE} {PID} 0", BUILD: "yes"}
    for status in (DagsterRunStatus.NOT_STARTED, DagsterRunStatus.STARTING):
        run = instance.create_run_for_job(first_job(), status=status, tags=gone)
        assert end_dead_runs(instance) == [f"first {run.run_id}"]
        assert instance.get_runs(dg.RunsFilter(tags={BUILD: "yes"}, statuses=AT_WORK)) == []


def test_a_run_that_is_executed_again_does_not_have_the_process_of_the_earlier_run(instance):
    gone = {PROCESS: f"{HOST} {BOOT} {NAMESPACE} {PID} 0"}
    earlier = instance.create_run_for_job(first_job(), status=DagsterRunStatus.FAILURE, tags=gone)
    again = instance.create_run_for_job(
        first_job(),
        status=DagsterRunStatus.STARTING,
        tags=gone,
        parent_run_id=earlier.run_id,
        root_run_id=earlier.run_id,
    )
    assert end_dead_runs(instance) == []
    # Its own process is another.
    instance.add_run_tags(again.run_id, {PROCESS: f"{HOST} {BOOT} {NAMESPACE} {PID} 1"})
    assert end_dead_runs(instance) == [f"first {again.run_id}"]


def test_terminate_reaches_a_process_whose_code_server_is_gone(instance):
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


def test_terminate_signals_no_process_that_has_the_number_of_the_run_s(instance, monkeypatch):
    monkeypatch.setattr("os.kill", lambda *_: pytest.fail("a process was signaled"))
    tags = {PROCESS: f"{HOST} {BOOT} {NAMESPACE} {PID} 1"}
    run = instance.create_run_for_job(first_job(), status=DagsterRunStatus.STARTED, tags=tags)
    assert not instance.run_launcher.terminate(run.run_id)


def test_a_run_has_its_process_as_a_tag(instance: dg.DagsterInstance) -> None:
    done = run_job(first_job(), instance)
    run = instance.get_run_by_id(done.run_id)
    assert run is not None and run.tags[PROCESS] == own_process()


def test_a_run_that_reexecutes_one_of_a_terminal_is_launched_again_if_its_process_dies(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dg.DagsterInstance, "run_retries_max_retries", 2)

    def tags_of(run_id: str) -> dict[str, str]:
        run = instance.get_run_by_id(run_id)
        assert run is not None
        return dict(run.tags)

    of_terminal = tags_of(run_job(first_job(), instance).run_id)
    assert int(of_terminal[MAX_RETRIES]) <= 0
    for tags, n_retries in ((of_terminal, "2"), ({MAX_RETRIES: "0"}, "0")):
        with dg.execute_job(dg.reconstructable(first_job), instance, tags=tags) as again:
            assert tags_of(again.run_id)[MAX_RETRIES] == n_retries
