"""Runs whose process is gone: they end, so that they do not fill the queue's places for ever.

What belongs here: which runs are dead, ending them, and the sensor that does so while the UI runs.
`vlm-loom ui` and `vlm-loom demo` do the same when they start. Runs that were launched and never
began are ended
by Dagster's own run monitoring (`dagster.yaml`).
"""

import time
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
from dagster import DagsterEventType, DagsterRunStatus

from dagster_project.held_file import is_held
from dagster_project.instance import is_shared
from dagster_project.live_runs import marks_folder
from dagster_project.run_tags import MARKED

AT_WORK = [
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]
"""Statuses of runs that a process executes, or is about to. A queued run has no process."""


def ending(
    status: DagsterRunStatus, held: bool | None, process_exists: bool | None
) -> DagsterRunStatus | None:
    """The status in which a run ends because its process is gone; None when the run is let be.

    `held`: whether a process holds the run's mark, None without a mark. `process_exists`: whether there
    is a process of the number in the run's log, None without a number. The number says something only
    of a run without a mark: one that was killed before it was marked, or that something else than this
    project executes.
    """
    gone = held is False or (held is None and process_exists is False)
    if not gone:
        return None
    if status == DagsterRunStatus.CANCELING:
        return DagsterRunStatus.CANCELED
    return DagsterRunStatus.FAILURE


def end_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """End every run whose process is gone; "<job> <run id>" of each."""
    ended = []
    runs = instance.get_runs(dg.RunsFilter(statuses=AT_WORK))
    shared = is_shared()
    free = _unheld_of_shared(runs) if shared else set()
    for run in runs:
        held: bool | None = run.run_id not in free
        exists = None
        if not shared:
            held = is_held(marks_folder(instance) / run.run_id)
            exists = _process_exists(instance, run.run_id) if held is None else None
        ends_as = ending(run.status, held, exists)
        # Its process may have ended it just before it let go of the mark.
        now = instance.get_run_by_id(run.run_id)
        if ends_as is None or now is None or now.status != run.status:
            continue
        if ends_as == DagsterRunStatus.CANCELED:
            instance.report_run_canceled(now, "The process of this run is gone: it is canceled.")
        else:
            instance.report_run_failed(
                now,
                "The process of this run is gone (killed, out of memory, or the machine was "
                "restarted): launch the run again.",
            )
        ended.append(f"{run.job_name} {run.run_id}")
    _remove_marks(instance)
    return ended


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Runs whose process is gone (killed, out of memory) end as failed.",
)
def dead_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Ends dead runs. It starts none, so every tick is skipped, with what it did as the reason."""
    ended = end_dead_runs(context.instance)
    if not ended:
        return dg.SkipReason("Every run at work has its process.")
    context.log.warning(f"ended: {', '.join(ended)}")
    return dg.SkipReason(f"Ended, as their processes are gone: {', '.join(ended)}.")


def _unheld_of_shared(runs: Sequence[dg.DagsterRun]) -> set[str]:
    """The runs of a shared installation that were marked, and whose marks are free for some time."""
    from dagster_project.shared_marks import TWO_LOOKS, held

    marked = {run.run_id for run in runs if MARKED in run.tags}
    free = marked and marked - held(marked)
    if not free:
        return set()
    time.sleep(TWO_LOOKS)
    return free - held(free)


def _process_exists(instance: dg.DagsterInstance, run_id: str) -> bool | None:
    """Whether there is a process of the number that the run's log has; None if it has none."""
    for entry in instance.all_logs(run_id, of_type=DagsterEventType.ENGINE_EVENT):
        event = entry.dagster_event
        number = event.engine_event_data.metadata.get("pid") if event else None
        if number is not None:
            return Path(f"/proc/{number.value}").exists()
    return None


def _remove_marks(instance: dg.DagsterInstance) -> None:
    """Remove the marks of runs that have ended, which processes of the UI leave behind."""
    folder = marks_folder(instance)
    for path in folder.glob("[!.]*"):
        run = instance.get_run_by_id(path.name)
        if is_held(path) is False and (run is None or run.is_finished):
            path.unlink(missing_ok=True)
