"""The three partition dimensions: shards, buckets of image sets, models.

They are in `assets/`, because imports point from `dagster_project` to `assets`.
"""

import dagster as dg

from methods.ids import bucket_of

wit_shards = dg.DynamicPartitionsDefinition(name="wit_shard")
"""Shards of the corpus, added by a sensor or a schedule."""

N_BUCKETS = 16
buckets = dg.StaticPartitionsDefinition([f"{bucket:02d}" for bucket in range(N_BUCKETS)])
"""Buckets of image sets by a hash of the set's id: a set never changes its bucket."""

models = dg.DynamicPartitionsDefinition(name="model")
"""Models under evaluation, added from models.yaml by a sensor."""


def bucket_key(set_id: str) -> str:
    """Partition key of an image set's bucket."""
    return f"{bucket_of(set_id, N_BUCKETS):02d}"
