"""Transcripts: each model's answers to an item, with the extracted values."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from assets.evaluate.released import item_ids, items_named, language_of
from methods.batched import batched
from methods.evaluation.asking import Answer, ContextPolicy, Transcript, policy_of
from methods.evaluation.items import Item
from resources.warehouse import Warehouse

Row = dict[str, Any]
ITEMS_AT_ONCE = 500
"""Items whose transcripts, of all models, are read in one batch."""


def transcripts_of(
    warehouse: Warehouse, release_id: str, ids: Sequence[str] | None = None
) -> dict[tuple[str, str], Transcript]:
    """Read the transcripts of a release. Extractions from answers that have been replaced are left out.

    Args:
        warehouse: The tables.
        release_id: The release.
        ids: The items; None reads all, which takes hundreds of megabytes for a large release.

    Returns:
        The transcripts by (model, item id), sorted by model and item.
    """
    wanted = item_ids(warehouse, release_id) if ids is None else list(ids)
    where = {"release_id": release_id, "item_ids": wanted}
    tables = warehouse.read_rows("evaluate/{}_of", ("answers", "extractions"), where)
    answers: dict[tuple[str, str], dict[tuple[str, int], Answer]] = {}
    policies: dict[tuple[str, str], ContextPolicy] = {}
    for row in tables["answers"]:
        of_item = answers.setdefault((row["model"], row["item_id"]), {})
        of_item[row["trial"], row["turn"]] = Answer(row["status"], row["answer"], row["call_key"])
        policies[row["model"], row["item_id"]] = policy_of(row["prompt_version"])
    readings: dict[tuple[str, str], dict[tuple[str, int], str | None]] = {}
    for row in tables["extractions"]:
        readings.setdefault((row["model"], row["item_id"]), {})[row["trial"], row["turn"]] = row[
            "value"
        ]
    return {
        key: Transcript(of_item, readings.get(key, {}), policies[key])
        for key, of_item in answers.items()
    }


class LazyTranscripts:
    """Items of a release with their transcripts, read in batches while judges are asked.

    All transcripts of a large release take hundreds of megabytes. If items are requested in order, each
    batch is read once. The last `n_kept` batches stay in memory, for judges at different items.
    """

    def __init__(self, warehouse: Warehouse, release_id: str, n_kept: int):
        self._warehouse, self._release_id, self._n_kept = warehouse, release_id, n_kept
        self._portions = list(batched(item_ids(warehouse, release_id), ITEMS_AT_ONCE))
        self.portion_of = {
            item_id: number for number, ids in enumerate(self._portions) for item_id in ids
        }
        self._language = language_of(warehouse, release_id)
        self._read: OrderedDict[int, asyncio.Task[_Portion]] = OrderedDict()

    async def get(self, model: str, item_id: str) -> tuple[Item, Transcript] | None:
        """Return the item and the model's transcript; None if its answers have been removed."""
        number = self.portion_of[item_id]
        if number not in self._read:
            # In a thread, so that waiting for the file does not block the requests in flight.
            reading = asyncio.to_thread(self._portion, self._portions[number])
            self._read[number] = asyncio.create_task(reading)
        self._read.move_to_end(number)
        while len(self._read) > self._n_kept:
            self._read.popitem(last=False)
        items, transcripts = await asyncio.shield(self._read[number])
        transcript = transcripts.get((model, item_id))
        return None if transcript is None else (items[item_id], transcript)

    def _portion(self, ids: list[str]) -> "_Portion":
        with self._warehouse.kept_open():
            items = items_named(self._warehouse, self._release_id, ids, self._language)
            transcripts = transcripts_of(self._warehouse, self._release_id, ids)
        return {item.item_id: item for item in items}, transcripts


_Portion = tuple[dict[str, Item], dict[tuple[str, str], Transcript]]
