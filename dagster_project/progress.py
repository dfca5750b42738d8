"""Progress of a run in a terminal: one line for each asset, and the asset's own log lines.

What belongs here: the console logger of the project's jobs. The whole log is in the Dagster UI.
"""

import logging
import sys
import time
from collections.abc import Mapping
from typing import Any

import dagster as dg
from dagster._utils.error import SerializableErrorInfo

SHOW_PROGRESS: Mapping[str, Any] = {"loggers": {"console": {}}}
"""Run config that prints with this logger instead of Dagster's own."""

_STARTED = time.monotonic()
_SHOWN = ("calls", "cache hits", "failed", "rejected", "cost (USD)")


class ProgressHandler(logging.Handler):
    """Prints materializations, failed checks, failures and the assets' own progress lines."""

    def __init__(self) -> None:
        super().__init__()
        self._printed: set[tuple[object, str]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print `record` when it is one of those."""
        event: dg.DagsterEvent | None = getattr(record, "dagster_event", None)
        if event is None:
            meta = getattr(record, "dagster_meta", {})
            message = meta.get("orig_message") or record.getMessage()
            # Steps that could not run because of a failure are not listed one by one.
            skipped = record.levelno < logging.INFO or message.startswith("Dependencies for step")
            line = None if skipped else f"  … {message}"
        elif event.is_step_materialization:
            line = self._materialized(event)
        elif event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            line = _failed_check(event)
        elif event.is_step_failure and event.step_failure_data.error:
            line = f"FAILED {event.step_key}: {_cause(event.step_failure_data.error)}"
        else:
            line = None
        if line:
            print(f"[{time.monotonic() - _STARTED:6.1f} s] {line}", file=sys.stdout, flush=True)

    def _materialized(self, event: dg.DagsterEvent) -> str | None:
        materialization = event.step_materialization_data.materialization
        asset = materialization.asset_key.to_user_string()
        # A run over several partitions reports each with the same metadata; one line is enough.
        if (event.job_name, asset) in self._printed:
            return None
        self._printed.add((event.job_name, asset))
        metadata = {name: entry.value for name, entry in materialization.metadata.items()}
        shown = [f"{metadata.get('dagster/row_count', 0)} rows"]
        shown += [f"{metadata[name]} {name}" for name in _SHOWN if metadata.get(name)]
        return f"{asset:<32} {', '.join(shown)}"


def _failed_check(event: dg.DagsterEvent) -> str | None:
    check = event.asset_check_evaluation_data
    if check.passed:
        return None
    found = ", ".join(f"{name} {entry.value}" for name, entry in check.metadata.items())
    return f"CHECK FAILED {check.asset_key.to_user_string()} {check.check_name}: {found}"


def _cause(error: SerializableErrorInfo) -> str:
    """The sentence at the bottom of a chain of errors."""
    while error.cause:
        error = error.cause
    return error.message.strip().splitlines()[0]


@dg.logger({}, description="One line for each asset, for a terminal.")
def progress_logger(_context: dg.InitLoggerContext) -> logging.Logger:
    """The logger that jobs print with."""
    logger = logging.Logger("vlm_loom.progress", level=logging.DEBUG)
    logger.addHandler(ProgressHandler())
    return logger
