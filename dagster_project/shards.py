"""Observations of the corpus's shards, in the terms of Dagster.

What belongs here: the event by which `ingest/shards` says which content a shard has. Dagster compares
the content at a materialization with that of now, so a shard is reported before it is ingested, too.
"""

import dagster as dg

from assets.common.dagster_internals import DATA_VERSION_TAG
from resources.corpus.observation import Observed


def observation(shard: str, seen: Observed) -> dg.AssetObservation:
    """That a shard has the content that was seen."""
    return dg.AssetObservation(
        asset_key=["ingest", "shards"],
        partition=shard,
        tags={DATA_VERSION_TAG: seen.fingerprint},
    )
