"""Shards of the corpus in the terms of Dagster: observations of their content, and reasons of failures.

What belongs here: the event by which `ingest/shards` says which content a shard has, and why a shard
could not be ingested while others could. Dagster compares the content at a materialization with that of
now, so a shard is reported before it is ingested, too. Which shards are ingested, and in which order,
is `jobs.py`.
"""

from collections.abc import Mapping

import dagster as dg

from assets.common.dagster_internals import DATA_VERSION_TAG
from assets.common.losses import each_with_reason
from dagster_project.progress import cause, is_wrong, only_failed, why_step_failed
from resources.corpus.observation import Observed

NAME_FAILED_SHARDS = "name_failed_shards"
"""The last step of a build: it fails if shards could not be ingested, when all else is done."""


def why_failed(result: dg.ExecuteInProcessResult) -> str:
    """What ended a run, in words: the sentence of its first failed step, or its checks that failed."""
    checks = [
        f"check {check.check_name} of {check.asset_key.to_user_string()}: {check.description}"
        for check in result.get_asset_check_evaluations()
        if is_wrong(check)
    ]
    if checks:
        return ", ".join(checks)
    for event in result.all_events:
        if why := why_step_failed(event):
            return why
        if event.is_resource_init_failure and event.engine_event_data.error:
            return cause(event.engine_event_data.error)
    return f"see its run {result.run_id}"


def failed_shards(failed: Mapping[str, str], n_shards: int) -> str:
    """The sentence about shards that failed, each with its reason."""
    left = n_shards - len(failed)
    others = f"the other {left} was" if left == 1 else f"the other {left} were"
    listed = each_with_reason(failed)
    return f"{len(failed)} of {n_shards} shards could not be ingested, {others}: {listed}."


def only_shards_failed(result: dg.ExecuteInProcessResult) -> str | None:
    """The sentence of a build that did everything but ingest some shards; None if more failed."""
    return only_failed(result, NAME_FAILED_SHARDS)


def observation(shard: str, seen: Observed) -> dg.AssetObservation:
    """That a shard has the content that was seen."""
    return dg.AssetObservation(
        asset_key=["ingest", "shards"],
        partition=shard,
        tags={DATA_VERSION_TAG: seen.fingerprint},
    )
