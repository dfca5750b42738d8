"""The limit of items that models are asked about. It holds for every stage of the evaluation."""

from collections.abc import Awaitable
from typing import TypeVar

from assets.evaluate.released import EvaluatedRelease, items_of
from methods.evaluation.item_sample import stratified_sample
from resources.llm.model_calls import ModelCalls
from resources.warehouse import Warehouse

R = TypeVar("R")


class ItemLimit:
    """The items of each release that models are asked about: a sample by ability.

    Args:
        warehouse: The tables.
        limit: The number of items of each release; None for all.
        seed: Seed of the sample.
    """

    def __init__(self, warehouse: Warehouse, limit: int | None, seed: int):
        self._warehouse, self._limit, self._seed = warehouse, limit, seed
        self._samples: dict[str, frozenset[str]] = {}

    def excludes(self, release: EvaluatedRelease, item_id: str) -> bool:
        """Tell whether an item is beyond the limit.

        Args:
            release: The release.
            item_id: The item.

        Returns:
            True if models must not be asked about it.
        """
        if self._limit is None:
            return False
        if release.release_id not in self._samples:
            items = items_of(self._warehouse, release.release_id)
            self._samples[release.release_id] = stratified_sample(
                items, self._limit, release.benchmark.abilities, self._seed
            )
        return item_id not in self._samples[release.release_id]

    async def ask(
        self, calls: ModelCalls, release: EvaluatedRelease, item_id: str, work: Awaitable[R]
    ) -> R | None:
        """Await the model calls about an item. Beyond the limit, only the ledger answers.

        Args:
            calls: The model calls of the stage.
            release: The release.
            item_id: The item.
            work: The calls about the item.

        Returns:
            The result; None if the item is beyond the limit and a call of it was never paid.
        """
        if self.excludes(release, item_id):
            return await calls.from_ledger(work)
        return await work
