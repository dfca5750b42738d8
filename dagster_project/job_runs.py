"""Runs of Dagster jobs in this process, which the UI shows on the job's page and in its timeline.

`run_job` adds to Dagster's `execute_in_process`: the run's code location, a tag with its process,
resent interrupts, and restored signal handlers.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import dagster as dg

from dagster_project.progress import SHOW_PROGRESS, root_cause
from dagster_project.run_processes import interruptible_waits, own_process
from dagster_project.run_tags import LOCATION, MAX_RETRIES, OF_TERMINAL, PROCESS
from methods.errors import printable
from resources.migrations import StoreLost
from resources.stores.address import server_error
from resources.warehouse.duckdb_file import left_open

AGAIN_SECONDS = 0.05
"""Seconds after which a dropped interrupt is sent again: the code that dropped it has ended by then."""
INTERRUPTED = "Interrupted: what was made until then is kept, and the same command goes on from it."


def run_job(
    job: dg.JobDefinition,
    instance: dg.DagsterInstance,
    *,
    tags: Mapping[str, str] | None = None,
    partition: str | None = None,
    assets: Sequence[dg.AssetKey] | None = None,
    ops: Mapping[str, object] | None = None,
    console: Mapping[str, object] = SHOW_PROGRESS,
) -> dg.ExecuteInProcessResult:
    """Run a job in this process, and wait until it has ended.

    Args:
        job: The job.
        instance: Where the run is recorded.
        tags: Tags of the run.
        partition: The partition of a partitioned job.
        assets: The assets of the job to run; None for all.
        ops: Run config of ops, by name.
        console: Run config of the logger that prints.

    Returns:
        The result of the run, which may have failed.

    Raises:
        KeyboardInterrupt: The run was interrupted, which Dagster records as a failure of the run.
        StoreLost: Dagster's database went away, and was not back in time.
    """
    of_process = {PROCESS: own_process(), MAX_RETRIES: OF_TERMINAL}
    with (
        restore_signal_handlers(),
        resend_interrupts(),
        interruptible_waits(),
        left_open.of_run(),
        _in_location(instance),
    ):
        try:
            result = job.execute_in_process(
                instance=instance,
                run_config={**console, "ops": dict(ops or {})},
                partition_key=partition,
                asset_selection=assets,
                tags={**(tags or {}), **of_process},
                raise_on_error=False,
            )
        except Exception as error:
            if lost := server_error(error):
                raise StoreLost(str(lost)) from error
            raise
    if any(map(_ends_by_signal, result.all_events)):
        raise KeyboardInterrupt(INTERRUPTED)
    if reason := _reason_outside_steps(result):
        print(f"FAILED: {printable(reason)}", flush=True)
    return result


def _reason_outside_steps(result: dg.ExecuteInProcessResult) -> str | None:
    """Return the error of a run that failed outside its steps, for example because of a full disk."""
    events = result.all_events
    if any(event.is_step_failure or event.is_resource_init_failure for event in events):
        return None
    failures = [
        e.job_failure_data for e in events if e.event_type == dg.DagsterEventType.RUN_FAILURE
    ]
    return next((root_cause(failure.error) for failure in failures if failure.error), None)


@contextmanager
def resend_interrupts() -> Iterator[None]:
    """Send an interrupt again if Python drops it inside the block.

    Dagster's signal handlers raise an exception. If that happens during garbage collection (in
    `__del__` or a weak-reference callback), Python only prints the exception, and the run continues.
    """
    show = sys.unraisablehook

    def again(dropped: "sys.UnraisableHookArgs") -> None:
        if isinstance(dropped.exc_value, KeyboardInterrupt | dg.DagsterExecutionInterruptedError):
            threading.Timer(AGAIN_SECONDS, os.kill, [os.getpid(), signal.SIGINT]).start()
        else:
            show(dropped)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = show


def _ends_by_signal(event: dg.DagsterEvent) -> bool:
    """Tell whether this event ends a run because of a signal."""
    if event.event_type == dg.DagsterEventType.RUN_CANCELED:
        return True
    return event.event_type == dg.DagsterEventType.RUN_FAILURE and is_interrupt(
        event.job_failure_data
    )


def is_interrupt(failure: Any) -> bool:
    """Tell whether a run's failure was caused by a signal."""
    reason = failure.failure_reason
    return reason is not None and reason.name == "UNEXPECTED_TERMINATION"


@contextmanager
def _in_location(instance: dg.DagsterInstance) -> Iterator[None]:
    """Give runs that `instance` creates in the block the project's code location.

    The UI's timeline leaves out runs without a location. `execute_in_process` has no parameter for it,
    and creates its run with `DagsterInstance.create_run_for_job`, which is patched here.
    """
    create = instance.create_run_for_job

    def create_in_location(job_def: dg.JobDefinition, **arguments: Any) -> dg.DagsterRun:
        return create(job_def=job_def, remote_job_origin=origin_of(job_def.name), **arguments)

    instance.create_run_for_job = create_in_location  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        instance.create_run_for_job = create  # type: ignore[method-assign]


def origin_of(job: str) -> Any:
    """Create Dagster's origin of a job: the project's definitions, `__repository__@vlm-loom`.

    The origin is deserialized from Dagster's storage format, because its classes are not public. It
    only has the name of the code location, which suffices for Dagster. Runs that the UI launches also
    have the address of the UI's code server, which changes with each start.
    """
    location = {"__class__": "RegisteredRepositoryLocationOrigin", "location_name": LOCATION}
    definitions = {
        "__class__": "ExternalRepositoryOrigin",
        "repository_location_origin": location,
        "repository_name": "__repository__",
    }
    origin = {
        "__class__": "ExternalPipelineOrigin",
        "external_repository_origin": definitions,
        "pipeline_name": job,
    }
    return dg.deserialize_value(json.dumps(origin))


@contextmanager
def restore_signal_handlers() -> Iterator[None]:
    """Restore the handlers of SIGINT and SIGTERM when the block ends.

    Dagster copies the handler of SIGINT to SIGTERM when a run begins, and does not restore it. Shells
    let background jobs ignore SIGINT, so after a run in such a job this process and its children would
    ignore SIGTERM, too, and could not be stopped with it. Outside the main thread, Dagster sets no
    handlers, and this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
