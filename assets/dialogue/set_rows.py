"""What the generation assets read: the images and the questions of every set.

What belongs here: what several assets of the stage share: reads, and the names of requests.
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


def request_name(set_id: str, position: int | None, until: int | None) -> str:
    """What a request about the image at `position` is called, or about the images 1 to `until`."""
    name = set_id if position is None else f"{set_id} image {position}"
    return name if until is None else f"{name} images 1 to {until}"
