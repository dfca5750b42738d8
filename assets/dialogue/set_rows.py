"""What the generation assets read: the images and the questions of the run's sets.

What belongs here: reads that several assets of the stage share.
"""

from itertools import groupby
from typing import Any

import dagster as dg

from assets.cluster import require_whole_sets
from resources.warehouse import Warehouse

Row = dict[str, Any]


def images_of_run(context: dg.AssetExecutionContext, warehouse: Warehouse) -> list[Row]:
    """Images of the run's sets with their entries, set by set, in order of position."""
    require_whole_sets(warehouse)
    return warehouse.read(
        "dialogue/sets_of_buckets", {"buckets": list(context.partition_keys)}
    ).to_pylist()


def questions_of_run(context: dg.AssetExecutionContext, warehouse: Warehouse) -> list[Row]:
    """Questions of the run's buckets with their answers, set by set; an answer may be None."""
    return warehouse.read(
        "dialogue/questions_of_buckets", {"buckets": list(context.partition_keys)}
    ).to_pylist()


def by_set(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """Rows in runs of one `set_id`, in their order."""
    return [(set_id, list(group)) for set_id, group in groupby(rows, key=lambda row: row["set_id"])]
