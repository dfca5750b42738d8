"""Progress of a running asset: lines in the log, observations on the asset's page.

What belongs here: reporting. `resources/llm/usage.py` counts model calls.
"""

import time
from collections.abc import Callable, Mapping

import dagster as dg

from resources.llm.usage import PROGRESS_SECONDS, OnProgress

OBSERVE_SECONDS = 15.0
"""An observation stays in Dagster's event log, so there are fewer of them than log lines."""


def show_progress(context: dg.AssetExecutionContext) -> OnProgress:
    """A callback that logs the progress of model calls, sometimes also as an asset observation."""
    show = _reporter(context)
    return lambda report: show(report.line(), report.metadata())


class StepProgress:
    """Reports every few seconds how many `units` of an asset are done, and the time left."""

    def __init__(self, context: dg.AssetExecutionContext, units: str):
        self._show = _reporter(context)
        self._stage, self._units = next(iter(context.selected_asset_keys)).path[-1], units
        self._done = self._done_when_shown = 0
        self._started = self._shown = time.monotonic()

    def per_second(self) -> float:
        """Mean number of units per second since the start."""
        return round(self._done / (time.monotonic() - self._started), 1)

    def update(self, done: int, total: int) -> None:
        """`done` of `total` are done; a smaller `done` than before starts another count."""
        if done < self._done:
            self._done_when_shown = 0
        self._done = done
        now = time.monotonic()
        if now - self._shown < PROGRESS_SECONDS or done <= self._done_when_shown:
            return
        pace = (done - self._done_when_shown) / (now - self._shown)
        left = (total - done) / pace
        self._shown, self._done_when_shown = now, done
        self._show(
            f"{self._stage}: {done}/{total} {self._units}, {pace:.1f}/s, "
            f"at most about {left:.0f} s left",
            {
                "done": f"{done} of {total}",
                f"{self._units} per second": round(pace, 1),
                "seconds left": round(left),
            },
        )


def _reporter(
    context: dg.AssetExecutionContext,
) -> Callable[[str, Mapping[str, int | float | str]], None]:
    """A callback that logs a line, and sometimes records its figures as an asset observation."""
    key = next(iter(context.selected_asset_keys))
    observed = float("-inf")

    def show(line: str, figures: Mapping[str, int | float | str]) -> None:
        nonlocal observed
        context.log.info(line)
        if time.monotonic() - observed >= OBSERVE_SECONDS:
            observed = time.monotonic()
            context.log_event(dg.AssetObservation(key, metadata=figures))

    return show
