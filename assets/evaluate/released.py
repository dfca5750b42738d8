"""The releases that are evaluated: which one each benchmark has in force, and its items.

What belongs here: reads of release tables that several assets of the stage share.
"""

from itertools import groupby
from typing import Any, NamedTuple

import dagster as dg

from methods.benchmarks import BENCHMARKS
from methods.evaluation.benchmark import Benchmark, Item, Turn
from resources.warehouse import Warehouse

Row = dict[str, Any]


class Released(NamedTuple):
    """A benchmark and the release of it that is in force."""

    benchmark: Benchmark
    release_id: str

    def owned(self, models: list[str]) -> dict[str, str | list[str]]:
        """The rows that a run of `models` replaces; results on earlier releases stay."""
        return {"benchmark": self.benchmark.name, "release_id": self.release_id, "model": models}


def releases_in_force(warehouse: Warehouse) -> list[Released]:
    """The release in force of every benchmark that has one. Raises dg.Failure where none has."""
    current = {
        row["name"]: row["release_id"] for row in warehouse.read("release/current").to_pylist()
    }
    found = [
        Released(benchmark, current[name])
        for name, benchmark in BENCHMARKS.items()
        if name in current
    ]
    if not found:
        names = ", ".join(BENCHMARKS)
        raise dg.Failure(
            f"There is no release of {names} to evaluate on; run the job `build` first.",
            allow_retries=False,
        )
    return found


def items_of(warehouse: Warehouse, release_id: str) -> list[Item]:
    """The release's items in order."""
    where = {"release_id": release_id}
    image_ids: dict[str, list[str]] = {}
    for image in warehouse.read("release/images_of", where).to_pylist():
        image_ids.setdefault(image["item_id"], []).append(image["image_id"])
    turns = warehouse.read("release/dialogues_of", where).to_pylist()
    return [
        Item(
            item_id,
            tuple(
                Turn(row["turn"], row["question"], row["reference"], tuple(row["image_positions"]))
                for row in group
            ),
            tuple(image_ids[item_id]),
        )
        for item_id, group in groupby(turns, key=lambda row: row["item_id"])
    ]
