"""How far an asset is while it runs: lines in the log, observations on the asset's page.

What belongs here: showing. What is shown is counted by `resources/llm/usage.py`.
"""

import time

import dagster as dg

from resources.llm.usage import Moment, Say

OBSERVE_SECONDS = 15.0
"""An observation is a row in Dagster's event log for good, so they are fewer than the lines."""


def show_progress(context: dg.AssetExecutionContext) -> Say:
    """Shows each moment in the log, and some as an observation of the asset that runs."""
    key = next(iter(context.selected_asset_keys))
    observed = float("-inf")

    def say(moment: Moment) -> None:
        nonlocal observed
        context.log.info(moment.line())
        if time.monotonic() - observed >= OBSERVE_SECONDS:
            observed = time.monotonic()
            context.log_event(dg.AssetObservation(key, metadata=moment.metadata()))

    return say
