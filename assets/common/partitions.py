"""The one partition dimension of the project: shards of the corpus.

It is in `assets/`, because imports point from `dagster_project` to `assets`. Everything after ingestion
is not partitioned: its rows are the unit of progress (docs/decisions/0020).
"""

import dagster as dg

from methods.errors import UserError
from methods.naming import nearest

wit_shards = dg.DynamicPartitionsDefinition(name="wit_shard")
"""Shards of the corpus, added by a sensor, a schedule, or the start of the UI."""


def require_partitions(context: dg.AssetExecutionContext) -> None:
    """Raise UserError if the step of a partitioned asset has no partition or an unknown one."""
    if context.assets_def.partitions_def is None:
        return
    asset = context.asset_key.to_user_string()
    if not (context.has_partition_key or context.has_partition_key_range):
        raise UserError(
            f"The run names no shard for {asset}: choose partitions in the UI, or run vlm-loom run "
            "ingest."
        )
    shards = context.instance.get_dynamic_partitions(str(wit_shards.name))
    for shard in context.partition_key_range:
        if shard not in shards:
            raise UserError(
                f"{asset} has no partition {shard!r}; {nearest(shard, shards)}: choose another one, or "
                "add the shard to the corpus and run vlm-loom run ingest."
            )
