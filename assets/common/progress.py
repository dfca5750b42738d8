"""Progress of a running asset: log lines, and observations on the asset's page in the UI."""

import time
from collections.abc import Callable, Mapping

import dagster as dg

from resources.llm.progress import (
    FIRST_SECONDS,
    PROGRESS_SECONDS,
    ItemRate,
    OnProgress,
    ProgressSnapshot,
)

OBSERVE_SECONDS = 15.0
"""Seconds between observations. They stay in Dagster's event log, so they are rarer than log lines."""


def show_progress(context: dg.AssetExecutionContext) -> OnProgress:
    """Return a callback that logs the progress of model calls, at times as an observation, too."""
    show = _reporter(context)
    return lambda report: show(report.line(), report.metadata())


class UnitProgress:
    """Reports to `show` every few seconds how many `units` of a `stage` are done, and the time left."""

    def __init__(
        self, show: Callable[[str, Mapping[str, int | float | str]], None], stage: str, units: str
    ):
        self._show, self._stage, self._units = show, stage, units
        self._done = 0
        self._pace: ItemRate | None = None
        self._started = time.monotonic()
        self._due = self._started + FIRST_SECONDS

    def per_second(self) -> float:
        """Return the mean number of units per second since the start."""
        return round(self._done / (time.monotonic() - self._started), 1)

    def update(self, done: int, total: int) -> None:
        """Report progress; a smaller `done` than before starts a new count.

        Args:
            done: The number of finished units.
            total: The number of all units.
        """
        current_time = time.monotonic()
        if self._pace is None or done < self._done:
            # The time before the first units, for example to load a model, does not count.
            self._pace = ItemRate(current_time, done)
        self._done = done
        if current_time < self._due:
            return
        self._due = current_time + PROGRESS_SECONDS
        self._pace.mark(ProgressSnapshot.of_units(current_time, done))
        remaining = self._pace.seconds_left(total - done)
        pace = self._pace.per_second()
        self._show(
            f"{self._stage}: {done}/{total} {self._units}, {pace:.1f}/s"
            + ("" if remaining is None else f", at most about {remaining:.0f} s left"),
            {
                "done": f"{done} of {total}",
                f"{self._units} per second": round(pace, 1),
                **({} if remaining is None else {"seconds left": round(remaining)}),
            },
        )


class StepProgress(UnitProgress):
    """Reports the progress of an asset's step in its log and on its page in the UI."""

    def __init__(self, context: dg.AssetExecutionContext, units: str):
        stage = next(iter(context.selected_asset_keys)).path[-1]
        super().__init__(_reporter(context), stage, units)


def _reporter(
    context: dg.AssetExecutionContext,
) -> Callable[[str, Mapping[str, int | float | str]], None]:
    """Return a callback that logs a line, and at times records its figures as an asset observation."""
    key = next(iter(context.selected_asset_keys))
    observed = float("-inf")

    def show(line: str, figures: Mapping[str, int | float | str]) -> None:
        nonlocal observed
        context.log.info(line)
        if time.monotonic() - observed >= OBSERVE_SECONDS:
            observed = time.monotonic()
            context.log_event(dg.AssetObservation(key, metadata=figures))

    return show
