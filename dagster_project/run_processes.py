"""Tags each run with its process, so that runs whose process is gone are detected.

Such a run ends as failed, and can be executed again: by the sensor `dead_runs`, and by a command before
it begins (docs/decisions/0020). *Terminate* reaches the process of a run also without the code server
that started it.
"""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dagster as dg

from assets.common.dagster_internals import ActiveExecution, raise_execution_interrupts
from assets.common.failures import unattended
from dagster_project.run_tags import MAX_RETRIES, OF_TERMINAL, PROCESS
from resources.warehouse.duckdb_file import left_open

GONE = (
    "The process of this run is gone (killed, out of memory, its database was away, or the machine was "
    "restarted): execute the run again."
)
KILLED = "The process of this run did not stop, and was killed."
AT_WORK = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
"""The states of a run whose process works on it, or is about to."""
UNFINISHED = dg.RunsFilter(statuses=[*AT_WORK, dg.DagsterRunStatus.QUEUED])
"""The runs that have not ended."""
_START_TICKS = 19
"""Index of the start time among the fields after the process name in /proc/<pid>/stat."""


def own_process() -> str:
    """Identify this process: host, boot, namespace of process ids, process id, start time.

    A process id alone may later belong to another process, or to one in another container.
    """
    return _identity(os.getpid())


def is_gone(process: str) -> bool:
    """Whether a process, identified as by `own_process`, has ended.

    Returns False for a process of another host or container: it cannot be seen from here.
    """
    host, boot, namespace, pid, start = process.split()
    own_host, *own = _machine()
    return host == own_host and ([boot, namespace] != own or _start_of(int(pid)) != start)


def _identity(pid: int) -> str:
    return " ".join([*_machine(), str(pid), _start_of(pid)])


def _process_of(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str | None:
    """Return the process of a run.

    A run that is executed again has the tags of the earlier run until its own process sets them.
    """
    process = run.tags.get(PROCESS)
    earlier = instance.get_run_by_id(run.parent_run_id) if run.parent_run_id else None
    return None if earlier is not None and earlier.tags.get(PROCESS) == process else process


def _send(process: str | None, number: signal.Signals) -> bool:
    """Send a signal to a process. Returns False if this user cannot, or it is not here."""
    if process is None:
        return False
    pid = int(process.split()[3])
    with suppress(OSError):
        if process == _identity(pid):
            os.kill(pid, number)
            return True
    return False


def _machine() -> list[str]:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return [socket.gethostname(), boot, str(Path("/proc/self/ns/pid").stat().st_ino)]


def _start_of(pid: int) -> str:
    """The start time of a process, in clock ticks since boot; empty if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    state, *fields = text.rpartition(")")[2].split()
    return "" if state == "Z" else fields[_START_TICKS - 1]


class RunLauncher(dg.DefaultRunLauncher):
    """Dagster's default launcher, which also signals processes itself."""

    def terminate(self, run_id: str) -> bool:
        """Stop a run: by its code server, or by a signal if no code server knows the run.

        Returns False if the run has ended, or its process cannot be reached from here.
        """
        # The code server may be gone, or one that started after the run.
        with suppress(dg.DagsterError):
            if super().terminate(run_id):
                return True
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        return _send(_process_of(self._instance, run), signal.SIGINT)

    def get_run_worker_debug_info(
        self, run: dg.DagsterRun, include_container_logs: bool | None = True
    ) -> str | None:
        """Kill the process of a run that run monitoring cancels because it did not stop in time."""
        # Run monitoring asks this just before it cancels the run, and calls nothing else of a launcher.
        canceling = run.status == dg.DagsterRunStatus.CANCELING
        if canceling and _send(_process_of(self._instance, run), signal.SIGKILL):
            return KILLED
        return None


def end_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """End the runs whose process is gone.

    A process may also end before its run has started. Also frees the pool slots of finished and
    deleted runs.

    Returns:
        "<job> <run id>" of each run that ended.
    """
    ended = []
    for run in instance.get_runs(dg.RunsFilter(statuses=AT_WORK)):
        process = _process_of(instance, run)
        if process is not None and is_gone(process):
            # The process may have ended the run just before the process itself ended.
            current_run = instance.get_run_by_id(run.run_id)
            if current_run is not None and not current_run.is_finished:
                instance.report_run_failed(current_run, GONE)
                ended.append(f"{run.job_name} {run.run_id}")
    storage = instance.event_log_storage
    for run_id in storage.get_concurrency_run_ids():
        holder = instance.get_run_by_id(run_id)
        if holder is None or holder.is_finished:
            storage.free_concurrency_slots_for_run(run_id)
    return ended


@contextmanager
def interruptible_waits() -> Iterator[None]:
    """Let signals end a run in the block that waits for a pool.

    Dagster stores a signal until the next step begins. A step that waits for a pool does not begin
    before another run has ended.
    """
    wait = ActiveExecution.sleep_til_ready

    def interruptible(execution: ActiveExecution) -> None:
        with raise_execution_interrupts():
            wait(execution)

    ActiveExecution.sleep_til_ready = interruptible  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        ActiveExecution.sleep_til_ready = wait  # type: ignore[method-assign]


class _LaunchedRun(dg.Executor):
    """Executes the steps of a launched run as `steps` does, in a process that executes nothing else."""

    def __init__(self, steps: dg.Executor):
        self._steps = steps

    @property
    def retries(self) -> Any:
        return self._steps.retries

    @property
    def step_dependency_config(self) -> Any:
        return self._steps.step_dependency_config

    def execute(self, plan_context: Any, execution_plan: Any) -> Iterator[dg.DagsterEvent]:
        instance, tags = plan_context.instance, {PROCESS: own_process()}
        if plan_context.dagster_run.tags.get(MAX_RETRIES) == OF_TERMINAL:
            tags[MAX_RETRIES] = str(instance.run_retries_max_retries)
        instance.add_run_tags(plan_context.run_id, tags)
        unattended.set()
        try:
            with left_open.of_run(), interruptible_waits():
                yield from self._steps.execute(plan_context, execution_plan)
        finally:
            unattended.clear()


def _launched(init_context: dg.InitExecutorContext) -> dg.Executor:
    make = dg.in_process_executor.executor_creation_fn
    assert make is not None
    return _LaunchedRun(make(init_context))


executor = dg.ExecutorDefinition(
    name=dg.in_process_executor.name,
    config_schema=dg.in_process_executor.config_schema.as_field(),
    executor_creation_fn=_launched,
    description="Executes all steps in the process of the run, which the run names in a tag.",
)
"""Dagster's in-process executor, which also stores the process of a run in a tag."""
