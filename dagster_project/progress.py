"""Dagster logger that prints the progress of a run in a terminal: one line for each asset, and the
asset's own log lines. The whole log is in the Dagster UI.
"""

import logging
import re
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

import dagster as dg

from assets.common.dagster_internals import CODE_VERSION_TAG
from assets.common.failures import StoreAway
from assets.common.isolation import LOST
from methods.errors import printable
from resources.files import home
from resources.files.system_errors import exhaustion_in_text

ALL_MADE = "made"
"""Name of the last step of an evaluation run, and of its checks. It fails if earlier steps failed."""
SHOW_PROGRESS: Mapping[str, Any] = {"loggers": {"console": {}}}
"""Run config with this logger in place of Dagster's console logger."""

WITHOUT_FAILURES: Mapping[str, Any] = {"loggers": {"console": {"config": {"say_failures": False}}}}
"""Run config for an action, which prints its failure itself. Progress goes to stderr, because stdout
has the result.
"""

TOLD_AT_THE_END: Mapping[str, Any] = {"loggers": {"console": {"config": {"says_made": False}}}}
"""Run config that prints failed evaluation steps by name only: `results.py` prints their reasons after
the run.
"""

TO_BE_MADE_AGAIN = "to be made again"
"""Code version by which an action marks an asset as stale, so that the next build runs it."""

QUIET_SECONDS = 3.0
"""Seconds without output after which a line says that the step is still running."""
_STARTED = time.monotonic()
_STEP_ENDS = (
    dg.DagsterEventType.STEP_SUCCESS,
    dg.DagsterEventType.STEP_FAILURE,
    dg.DagsterEventType.STEP_SKIPPED,
)
_CLASS = re.compile(r"^(\w+\.)*\w*(Error|Exception|Failure|Away): ")
_SHOWN = ("calls", "cache hits", "failed", "rejected", "cost (USD)")


class ProgressHandler(logging.Handler):
    """Prints materializations, failed checks, failures and the assets' own progress lines."""

    def __init__(self, say_failures: bool, says_made: bool = True) -> None:
        super().__init__()
        self._say_failures, self._says_made = say_failures, says_made
        self._print = _print if say_failures else _print_on_stderr
        self._printed: set[tuple[object, str]] = set()
        self._reasons: set[str] = set()
        self._stages: set[str] = set()
        self._quiet: threading.Timer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Print `record` if it is of interest."""
        line = self._line(record)
        event: dg.DagsterEvent | None = getattr(record, "dagster_event", None)
        if line or (event is not None and event.event_type in _STEP_ENDS):
            self._expect(None)
        if line:
            self._print(line)
        if event is not None and event.event_type == dg.DagsterEventType.STEP_START:
            step = _step_name(event)
            if event.job_name == "build":
                self._say_stage(step.partition("/"))
            self._expect(step)

    def _say_stage(self, step: tuple[str, str, str]) -> None:
        """Print the name of a stage at its first step; steps of checks belong to no stage."""
        stage, separator, _ = step
        if separator and stage not in self._stages:
            self._stages.add(stage)
            self._print(f"  … stage {stage}")

    def _expect(self, step: str | None) -> None:
        """Print the name of `step` after `QUIET_SECONDS` without other output; None cancels this."""
        if self._quiet is not None:
            self._quiet.cancel()
            self._quiet.join()
            self._quiet = None
        if step is not None:
            self._quiet = threading.Timer(QUIET_SECONDS, self._print, [f"  … {step} is under way"])
            self._quiet.daemon = True
            self._quiet.start()

    def _line(self, record: logging.LogRecord) -> str | None:
        """Return the line to print for `record`, or None."""
        event: dg.DagsterEvent | None = getattr(record, "dagster_event", None)
        if event is None:
            meta = getattr(record, "dagster_meta", {})
            message = meta.get("orig_message") or record.getMessage()
            # Steps that could not run because of a failure are not listed one by one.
            skipped = record.levelno < logging.INFO or message.startswith("Dependencies for step")
            return None if skipped else f"  … {message}"
        if event.is_step_materialization:
            return self._materialized(event)
        if event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            return _failed_check(event, self._says_made)
        if event.event_type == dg.DagsterEventType.ENGINE_EVENT:
            return self._waits_for_pool(event)
        if not self._say_failures:
            return None
        if event.is_resource_init_failure and event.engine_event_data.error:
            return f"FAILED: {root_cause(event.engine_event_data.error)}"
        why = why_step_failed(event)
        if why is None:
            return None
        again = why in self._reasons
        self._reasons.add(why)
        return f"FAILED {event.step_key}: {'for the same reason' if again else why}"

    def _waits_for_pool(self, event: dg.DagsterEvent) -> str | None:
        """Return the line about a step that waits for a pool; None if it was printed before."""
        pool = event.engine_event_data.metadata.get("pool")
        if pool is None or (event.step_key, "pool") in self._printed:
            return None
        self._printed.add((event.step_key, "pool"))
        step = _step_name(event)
        return f"  … {step} waits until another run frees a slot of the pool {pool.value}"

    def _materialized(self, event: dg.DagsterEvent) -> str | None:
        materialization = event.step_materialization_data.materialization
        asset = materialization.asset_key.to_user_string()
        # A run over several partitions reports each with the same metadata; one line is enough.
        if (event.job_name, asset) in self._printed:
            return None
        self._printed.add((event.job_name, asset))
        if (materialization.tags or {}).get(CODE_VERSION_TAG) == TO_BE_MADE_AGAIN:
            return f"{asset:<32} {TO_BE_MADE_AGAIN}"
        metadata = {name: entry.value for name, entry in materialization.metadata.items()}
        shown = [f"{metadata.get('dagster/row_count', 0)} rows"]
        shown += [f"{metadata[name]} {name}" for name in _SHOWN if metadata.get(name)]
        if LOST in metadata:
            # The rows may be from an earlier run.
            return f"FAILED {asset}: not all of it was made; it has {shown[0]}"
        return f"{asset:<32} {', '.join(shown)}"


def console_of(job: str) -> Mapping[str, Any]:
    """Return the run config that a command prints a job's run with."""
    return TOLD_AT_THE_END if job == "evaluate" else SHOW_PROGRESS


def ui_command() -> str:
    """Return the command that serves the UI of the workspace."""
    folder = home.home()
    return "vlm-loom ui" + ("" if folder == home.DEFAULT else f" --workspace {quote(str(folder))}")


def print_failure(job: str) -> None:
    """Say on stderr that the run of a job failed, after its log."""
    print(
        f"The run of {job} failed; the log above and the UI ({ui_command()}) say why.",
        file=sys.stderr,
    )


def print_failed_checks(job: str, names: Sequence[str]) -> None:
    """Print on stderr which checks failed in a run whose steps all succeeded.

    Args:
        job: The job.
        names: The checks.
    """
    print(
        f"The run of {job} came to its end, and of its checks failed: {', '.join(names)}; the log "
        f"above and the UI ({ui_command()}) say why.",
        file=sys.stderr,
    )


def print_lost_results(n_results: int) -> None:
    """Say on stderr that results of models on releases are missing, though no step failed."""
    print(
        f"{n_results} results, each of a model on a release, were not taken; the lines below the "
        "leaderboards say why. Run it again once that is put right.",
        file=sys.stderr,
    )


def _step_name(event: dg.DagsterEvent) -> str:
    """Return the asset of a step, such as `evaluate/answers`."""
    return str(event.step_key).replace("__", "/")


def _print(line: str) -> None:
    print(f"[{time.monotonic() - _STARTED:6.1f} s] {printable(line)}", file=sys.stdout, flush=True)


def _print_on_stderr(line: str) -> None:
    print(f"[{time.monotonic() - _STARTED:6.1f} s] {printable(line)}", file=sys.stderr, flush=True)


def is_failed_check(check: dg.AssetCheckEvaluation) -> bool:
    """Tell whether a check failed with severity ERROR."""
    return not check.passed and check.severity == dg.AssetCheckSeverity.ERROR


def failed_checks(instance: dg.DagsterInstance, run_id: str) -> list[str]:
    """Read from the event log which checks failed in a run with severity ERROR.

    Args:
        instance: The Dagster instance.
        run_id: The run.
    """
    events = instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    checks = [entry.get_dagster_event().asset_check_evaluation_data for entry in events]
    return [_name(check) for check in checks if is_failed_check(check)]


def _failed_check(event: dg.DagsterEvent, says_made: bool) -> str | None:
    check = event.asset_check_evaluation_data
    if check.passed:
        return None
    line = f"CHECK {'FAILED' if is_failed_check(check) else 'WARNS'} {_name(check)}"
    return (
        line if check.check_name == ALL_MADE and not says_made else f"{line}: {check.description}"
    )


def _name(check: dg.AssetCheckEvaluation) -> str:
    return f"{check.asset_key.to_user_string()} {check.check_name}"


def why_step_failed(event: dg.DagsterEvent) -> str | None:
    """Return the description of a step's failure, or the message of its error; None for other events.

    Failed checks are left out, because they have their own event. An interrupt is not a failure.
    """
    if not (event.is_step_failure and event.step_failure_data.error) or event.step_key == ALL_MADE:
        return None
    source = event.step_failure_data.error_source
    if source is not None and source.name == "INTERRUPT":
        return None
    if event.step_failure_data.error.cls_name == "DagsterAssetCheckFailedError":
        return None
    failure = event.step_failure_data.user_failure_data
    return (failure and failure.description) or root_cause(event.step_failure_data.error)


def is_store_away(event: dg.DagsterEvent) -> bool:
    """Tell whether a step or a resource failed because a store's server does not answer."""
    error = None
    if event.is_step_failure:
        error = event.step_failure_data.error
    elif event.is_resource_init_failure:
        error = event.engine_event_data.error
    while error is not None and error.cls_name != StoreAway.__name__:
        error = error.cause
    return error is not None


def only_made_failed(result: dg.ExecuteInProcessResult) -> bool:
    """Tell whether the step `ALL_MADE` failed in a run, and no other one."""
    return [event.step_key for event in result.all_events if event.is_step_failure] == [ALL_MADE]


def message_of_made(result: dg.ExecuteInProcessResult) -> str | None:
    """Read the message of the step `ALL_MADE`, printable; None if it did not fail or has none."""
    for event in result.all_events:
        if event.is_step_failure and event.step_key == ALL_MADE:
            failure = event.step_failure_data.user_failure_data
            description = failure.description if failure else None
            return description and printable(description)
    return None


def root_cause(error: Any) -> str:
    """Return the first line of the innermost error's message, without the name of its class."""
    while error.cause:
        error = error.cause
    # The message of an error in an event begins with the name of the error's class.
    text = str(error.message).strip()
    first = text.splitlines()[0]
    return exhaustion_in_text(text) or _CLASS.sub("", first) or first


@dg.logger(
    {
        name: dg.Field(bool, is_required=False, default_value=True)
        for name in ("say_failures", "says_made")
    },
    description="One line for each asset, for a terminal.",
)
def progress_logger(context: dg.InitLoggerContext) -> logging.Logger:
    """Create the logger that jobs print with."""
    logger = logging.Logger("vlm_loom.progress", level=logging.DEBUG)
    logger.addHandler(ProgressHandler(**context.logger_config))
    return logger
