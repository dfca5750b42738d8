"""The one partition dimension of the project: shards of the corpus.

It is in `assets/`, because imports point from `dagster_project` to `assets`. Everything after ingestion
is not partitioned: its rows are the unit of progress (docs/decisions/0020).
"""

import dagster as dg

wit_shards = dg.DynamicPartitionsDefinition(name="wit_shard")
"""Shards of the corpus, added by a sensor, a schedule, or the start of the UI."""
