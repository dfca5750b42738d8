"""What the generation assets read: the images and the questions of every set.

What belongs here: reads that several assets of the stage share.
"""

from itertools import groupby
from typing import Any

import dagster as dg

from assets.cluster import require_whole_sets
from resources.warehouse import Warehouse

Row = dict[str, Any]


def images_of_sets(warehouse: Warehouse) -> list[Row]:
    """Images of every set with their entries, set by set, in order of position.

    Raises dg.Failure where there are no sets, or not the entries of all of them.
    """
    require_whole_sets(warehouse)
    rows = warehouse.read("dialogue/sets").to_pylist()
    if not rows:
        raise dg.Failure("There are no image sets: run the job cluster first.", allow_retries=False)
    return rows


def questions_of_sets(warehouse: Warehouse) -> list[Row]:
    """Questions of every set with their answers, set by set; an answer may be None."""
    return warehouse.read("dialogue/questions").to_pylist()


def by_set(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """Rows in runs of one `set_id`, in their order."""
    return [(set_id, list(group)) for set_id, group in groupby(rows, key=lambda row: row["set_id"])]
