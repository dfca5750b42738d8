"""How far an asset is while it runs: lines in the log, observations on the asset's page.

What belongs here: showing. What model calls come to is counted by `resources/llm/usage.py`.
"""

import time
from collections.abc import Callable, Mapping

import dagster as dg

from resources.llm.usage import PROGRESS_SECONDS, Say

OBSERVE_SECONDS = 15.0
"""An observation is a row in Dagster's event log for good, so they are fewer than the lines."""


def show_progress(context: dg.AssetExecutionContext) -> Say:
    """Shows each moment of model calls in the log, and some as an observation of the asset."""
    show = _shower(context)
    return lambda moment: show(moment.line(), moment.metadata())


class Steps:
    """Shows every few seconds how many of an asset's `things` are done, and how long the rest takes."""

    def __init__(self, context: dg.AssetExecutionContext, things: str):
        self._show = _shower(context)
        self._stage, self._things = next(iter(context.selected_asset_keys)).path[-1], things
        self._done = self._done_when_shown = 0
        self._started = self._shown = time.monotonic()

    def per_second(self) -> float:
        """Things a second from the beginning on."""
        return round(self._done / (time.monotonic() - self._started), 1)

    def reach(self, done: int, total: int) -> None:
        """So many are done, of how many; fewer than before: another lot has begun."""
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
            f"{self._stage}: {done}/{total} {self._things}, {pace:.1f}/s, "
            f"at most about {left:.0f} s left",
            {
                "done": f"{done} of {total}",
                f"{self._things} per second": round(pace, 1),
                "seconds left": round(left),
            },
        )


def _shower(
    context: dg.AssetExecutionContext,
) -> Callable[[str, Mapping[str, int | float | str]], None]:
    """Shows a line in the log, and some of them with their figures as an observation of the asset."""
    key = next(iter(context.selected_asset_keys))
    observed = float("-inf")

    def show(line: str, figures: Mapping[str, int | float | str]) -> None:
        nonlocal observed
        context.log.info(line)
        if time.monotonic() - observed >= OBSERVE_SECONDS:
            observed = time.monotonic()
            context.log_event(dg.AssetObservation(key, metadata=figures))

    return show
