"""Sensors that tell people of failed runs and failed checks (`resources/web/alerts.py`).

What belongs here: which runs are told of, and in which words. The sensors are off where no address is
set. A tick without an address, or whose message cannot be sent, is skipped with the reason.
"""

import dagster as dg

from assets.common.dagster_internals import MAX_RETRIES_TAG, WILL_RETRY_TAG, RunFailureReason
from assets.common.failures import WAITS
from dagster_project.progress import cause, failed_checks, why_step_failed
from dagster_project.run_tags import BUILD
from resources.web.alerts import EMAIL, WEBHOOK, are_set, send
from resources.web.ports import ui_page

STATUS = dg.DefaultSensorStatus.RUNNING if are_set() else dg.DefaultSensorStatus.STOPPED
EVERY_SECONDS = 15
NO_ADDRESS = dg.SkipReason(
    f"Nobody is told: set {WEBHOOK} or {EMAIL} in the environment of the code location, and start it "
    "again."
)


@dg.run_failure_sensor(
    monitor_all_code_locations=True,
    minimum_interval_seconds=EVERY_SECONDS,
    default_status=STATUS,
    description="Tells of a failed run, by LOOM_ALERT_WEBHOOK and LOOM_ALERT_EMAIL: why, and where.",
)
def alert_of_failed_runs(context: dg.RunFailureSensorContext) -> dg.SkipReason | None:
    """One message for a run that failed and is not tried again; a stage is told of with its build."""
    if not are_set():
        return NO_ADDRESS
    run = context.instance.get_run_by_id(context.dagster_run.run_id) or context.dagster_run
    ended = context.failure_event.job_failure_data
    if BUILD in run.tags or run.tags.get(WILL_RETRY_TAG) == "true":
        return None
    retries = context.instance.run_retries_enabled and run.tags.get(MAX_RETRIES_TAG) != "0"
    if ended.failure_reason == RunFailureReason.UNEXPECTED_TERMINATION and not retries:
        return None  # Who stopped it knows.
    reasons, waits = _reasons(context.instance, run.run_id)
    if not reasons and waits:
        return None
    reasons += [f"Check {name} failed." for name in failed_checks(context.instance, run.run_id)]
    if not reasons:
        own = cause(ended.error) if ended.error else context.failure_event.message
        reasons = [own or "It ended without a reason."]
    return _tell(context, f"vlm-loom: {run.job_name} failed", reasons, run.run_id)


@dg.run_status_sensor(
    run_status=dg.DagsterRunStatus.SUCCESS,
    monitor_all_code_locations=True,
    minimum_interval_seconds=EVERY_SECONDS,
    default_status=STATUS,
    description="Tells of checks that failed in a run which came to its end; not of those that warn.",
)
def alert_of_failed_checks(context: dg.RunStatusSensorContext) -> dg.SkipReason | None:
    """One message for a run with failed checks; those of a stage are told of with its build."""
    if not are_set():
        return NO_ADDRESS
    run = context.dagster_run
    failed = [] if BUILD in run.tags else failed_checks(context.instance, run.run_id)
    if not failed:
        return None
    return _tell(context, f"vlm-loom: checks failed in {run.job_name}", failed, run.run_id)


def _reasons(instance: dg.DagsterInstance, run_id: str) -> tuple[list[str], bool]:
    """The sentences of the steps that failed, in the stages of a build where there are some; whether
    there are steps that wait for batches, which is no failure."""
    of_stages = instance.get_runs(
        dg.RunsFilter(tags={BUILD: run_id}, statuses=[dg.DagsterRunStatus.FAILURE])
    )
    reasons: dict[str, None] = {}
    waits = False
    for current_id in [run.run_id for run in reversed(of_stages)] or [run_id]:
        for entry in instance.all_logs(current_id, of_type=dg.DagsterEventType.STEP_FAILURE):
            event = entry.get_dagster_event()
            told = event.step_failure_data.user_failure_data
            if told and WAITS in told.metadata:
                waits = True
            elif why := why_step_failed(event):
                reasons[f"{str(event.step_key).replace('__', '/')}: {why}"] = None
    return list(reasons), waits


def _tell(
    context: dg.RunStatusSensorContext, subject: str, lines: list[str], run_id: str
) -> dg.SkipReason | None:
    """Send a message; the reason where some receiver did not get it."""
    troubles = send(subject, "\n".join([*lines, ui_page(f"/runs/{run_id}")]))
    if troubles:
        return dg.SkipReason(f"The alert of run {run_id} was not sent. {' '.join(troubles)}")
    context.log.info(f"told of run {run_id}")
    return None


ALERTS = [alert_of_failed_runs, alert_of_failed_checks]
