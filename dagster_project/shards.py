"""Observations of the corpus's shards, in the terms of Dagster.

What belongs here: the event by which `ingest/shards` says which content a shard has. Dagster compares
the content at a materialization with that of now, so a shard is reported before it is ingested, too.
"""

from collections.abc import Sequence

import dagster as dg

from assets.common.dagster_internals import DATA_VERSION_TAG
from resources.corpus.observation import Observed

_SHARDS = dg.AssetKey(["ingest", "shards"])


def observation(shard: str, seen: Observed) -> dg.AssetObservation:
    """That a shard has the content that was seen."""
    return dg.AssetObservation(
        asset_key=_SHARDS,
        partition=shard,
        tags={DATA_VERSION_TAG: seen.fingerprint},
    )


def observed_fingerprints(instance: dg.DagsterInstance, shards: Sequence[str]) -> dict[str, str]:
    """The content that each of the shards had when it was last observed; without those never seen."""
    found = {}
    for shard in shards:
        latest = dg.AssetRecordsFilter(asset_key=_SHARDS, asset_partitions=[shard])
        for record in instance.fetch_observations(latest, limit=1).records:
            event = record.asset_observation
            if event and event.tags:
                found[shard] = event.tags[DATA_VERSION_TAG]
    return found
