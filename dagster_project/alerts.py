"""Sensors that send alerts on failed runs and failed checks, by webhook or e-mail.

`resources/web/alerts.py` sends them. The sensors are off by default if no address is set. A tick
without an address is skipped with the reason. A tick whose message nobody took fails, and the next one
sends it again.
"""

import time

import dagster as dg

from assets.common.failures import WAITS
from dagster_project.job_runs import is_interrupt
from dagster_project.progress import failed_checks, root_cause, why_step_failed
from dagster_project.run_tags import BACKFILL, MAX_RETRIES, OF_TERMINAL, RETRY_RUN, WILL_RETRY
from resources.web.alerts import EMAIL, WEBHOOK, send, variables_set
from resources.web.ports import ui_page

STATUS = dg.DefaultSensorStatus.RUNNING if variables_set() else dg.DefaultSensorStatus.STOPPED
EVERY_SECONDS = 15
RETRY_SECONDS = 24 * 60 * 60
OPEN_BACKFILLS = {"REQUESTED", "CANCELING", "FAILING"}
"""The statuses of a backfill whose failed runs Dagster launches again."""
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
    """Send one message for a run that failed and will not be retried."""
    if not variables_set():
        return NO_ADDRESS
    run = context.instance.get_run_by_id(context.dagster_run.run_id) or context.dagster_run
    ended = context.failure_event.job_failure_data
    ended_backfill = None
    if run.tags.get(WILL_RETRY) == "true":
        ended_backfill = _ended_backfill(context.instance, run)
        if ended_backfill is None:
            return None
    is_single = run.tags.get(MAX_RETRIES) in ("0", OF_TERMINAL)
    retries = context.instance.run_retries_enabled and not is_single
    if is_interrupt(ended) and not retries:
        return None  # The user who stopped the run knows.
    reasons, waits = _reasons(context.instance, run.run_id)
    if not reasons and waits:
        return None
    reasons += [f"Check {name} failed." for name in failed_checks(context.instance, run.run_id)]
    if not reasons:
        own = root_cause(ended.error) if ended.error else context.failure_event.message
        reasons = [own or "It ended without a reason."]
    reasons += [ended_backfill] if ended_backfill else []
    return _tell(context, f"vlm-loom: {run.job_name} failed", reasons, run.run_id)


@dg.run_status_sensor(
    run_status=dg.DagsterRunStatus.SUCCESS,
    monitor_all_code_locations=True,
    minimum_interval_seconds=EVERY_SECONDS,
    default_status=STATUS,
    description="Tells of checks that failed in a run which came to its end; not of those that warn.",
)
def alert_of_failed_checks(context: dg.RunStatusSensorContext) -> dg.SkipReason | None:
    """Send one message for a successful run with failed checks."""
    if not variables_set():
        return NO_ADDRESS
    run = context.dagster_run
    failed = failed_checks(context.instance, run.run_id)
    if not failed:
        return None
    return _tell(context, f"vlm-loom: checks failed in {run.job_name}", failed, run.run_id)


def _ended_backfill(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str | None:
    """Describe the backfill of a failed run if it has ended; None without one, or while it goes on.

    Dagster does not launch a run of an ended backfill again, although the tag of the run says so.
    """
    name = run.tags.get(BACKFILL)
    if name is None or RETRY_RUN in run.tags:
        return None
    backfill = instance.get_backfill(name)
    if backfill is not None and backfill.status.value in OPEN_BACKFILLS:
        return None
    status = backfill.status.value if backfill is not None else "deleted"
    return (
        f"Its backfill {name} has ended ({status}), so it is not launched again: execute it again."
    )


def _reasons(instance: dg.DagsterInstance, run_id: str) -> tuple[list[str], bool]:
    """Return the reasons of failed steps, and whether steps wait for batches, which is no failure."""
    reasons: dict[str, None] = {}
    waits = False
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE):
        event = entry.get_dagster_event()
        failure = event.step_failure_data.user_failure_data
        if failure and WAITS in failure.metadata:
            waits = True
        elif why := why_step_failed(event):
            reasons[f"{str(event.step_key).replace('__', '/')}: {why}"] = None
    return list(reasons), waits


def _tell(
    context: dg.RunStatusSensorContext, subject: str, lines: list[str], run_id: str
) -> dg.SkipReason:
    """Send a message. The returned reason ends the tick, so that no later failure repeats the message.

    Raises:
        DagsterError: No receiver took the message. The tick fails and Dagster keeps the cursor, so the
            next tick sends it again, for up to `RETRY_SECONDS` after the end of the run.
    """
    troubles = send(subject, "\n".join([*lines, ui_page(f"/runs/{run_id}")]))
    if not troubles:
        return dg.SkipReason(f"The alert of run {run_id} was sent.")
    reason = f"The alert of run {run_id} was not sent. {' '.join(troubles)}"
    record = context.instance.get_run_record_by_id(run_id)
    is_recent = record and record.end_time and time.time() - record.end_time < RETRY_SECONDS
    if is_recent and len(troubles) == len(variables_set()):
        # Any other error would move the cursor of a run status sensor on.
        raise dg.DagsterError(f"{reason} The next tick sends it again.")
    return dg.SkipReason(reason)


ALERTS = [alert_of_failed_runs, alert_of_failed_checks]
