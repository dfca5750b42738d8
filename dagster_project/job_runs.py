"""Running a job in this process, as a run that the UI shows on the job's page and in its timeline.

What belongs here: what Dagster's `execute_in_process` leaves out, the run's origin, and what it leaves
behind, handlers of signals.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from uuid import uuid4

import dagster as dg

from assets.common.dagster_internals import (
    MAX_RETRIES_TAG,
    SINGLETON_REPOSITORY_NAME,
    RegisteredCodeLocationOrigin,
    RemoteRepositoryOrigin,
    RunFailureReason,
)
from dagster_project.instance import is_shared
from dagster_project.live_runs import marked
from dagster_project.progress import SHOW_PROGRESS
from dagster_project.run_tags import LOCATION, MARKED
from dagster_project.storage import running_here

AGAIN_SECONDS = 0.05
"""After which an interrupt that was dropped is sent again: what dropped it has come to its end."""
INTERRUPTED = "Interrupted: what was made until then is kept, and the same command goes on from it."
REPOSITORY = RemoteRepositoryOrigin(
    RegisteredCodeLocationOrigin(LOCATION), SINGLETON_REPOSITORY_NAME
)
"""The project's definitions as the UI names them: `__repository__@vlm-loom`.

The location is given by its name only, by which Dagster finds it. What else the origin of a run of the
UI has is the socket of the UI's code server, another one after each start.
"""


def run_job(
    job: dg.JobDefinition,
    instance: dg.DagsterInstance,
    *,
    tags: Mapping[str, str] | None = None,
    partition: str | None = None,
    assets: Sequence[dg.AssetKey] | None = None,
    resources: Mapping[str, object] | None = None,
    ops: Mapping[str, object] | None = None,
    console: Mapping[str, object] = SHOW_PROGRESS,
) -> dg.ExecuteInProcessResult:
    """Run a job here and now. `console` is the run config of what it prints.

    Raises KeyboardInterrupt when the run was interrupted, which Dagster makes a failure of the run.
    """
    run_id = str(uuid4())
    # Who runs a command decides whether it is run again; a stage is run again by its build.
    of_shared = {MAX_RETRIES_TAG: "0", MARKED: "yes"} if is_shared() else {}
    with (
        handlers_kept(),
        interrupts_kept(),
        marked(instance, run_id),
        in_location(instance, job.name),
    ):
        is_stage = running_here.is_set()
        running_here.set()
        try:
            result = job.execute_in_process(
                instance=instance,
                run_id=run_id,
                run_config={**console, "ops": dict(ops or {})},
                partition_key=partition,
                asset_selection=assets,
                tags={**(tags or {}), **of_shared},
                resources=dict(resources or {}),
                raise_on_error=False,
            )
        finally:
            if not is_stage:
                running_here.clear()
    if any(map(_is_interrupt, result.all_events)):
        raise KeyboardInterrupt(INTERRUPTED)
    return result


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Interrupt once more where Python dropped an interrupt in this block.

    What a handler raises while an object is collected (in `__del__`, or a callback of a weak reference)
    is printed and dropped, and the run would go on. Dagster's handlers raise.
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


def _is_interrupt(event: dg.DagsterEvent) -> bool:
    """Whether a run ended with this event because a signal ended it."""
    if event.event_type == dg.DagsterEventType.RUN_CANCELED:
        return True
    return (
        event.event_type == dg.DagsterEventType.RUN_FAILURE
        and event.job_failure_data.failure_reason == RunFailureReason.UNEXPECTED_TERMINATION
    )


@contextmanager
def in_location(instance: dg.DagsterInstance, job: str) -> Iterator[None]:
    """Runs of `job` that `instance` makes in the block belong to the project's code location.

    Dagster's `execute_in_process` makes its run without an origin and has no parameter for one.
    `DagsterInstance.create_run_for_job`, which it calls, has one; so it is replaced for the block.
    """
    create = instance.create_run_for_job
    given = partial(create, remote_job_origin=REPOSITORY.get_job_origin(job))
    instance.create_run_for_job = given  # type: ignore[method-assign]
    try:
        yield
    finally:
        instance.create_run_for_job = create  # type: ignore[method-assign]


@contextmanager
def handlers_kept() -> Iterator[None]:
    """Restore the handlers of SIGINT and SIGTERM when the block ends.

    Dagster copies the handler of SIGINT to SIGTERM when a run begins, and leaves it there when the run
    ends. A shell lets its background jobs ignore SIGINT, so after a run in such a job SIGTERM is
    ignored too, by this process and by every process that it starts: nothing that stops a child by
    SIGTERM ends any more. Outside the main thread nothing is done: there Dagster sets no handler
    either.
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
