"""Right and wrong items by model, for benchmarks with right and wrong answers."""

from collections.abc import Iterator
from typing import NamedTuple

from assets.common.isolation import Isolation
from assets.evaluate.observed import JudgeObservations, slices
from methods.benchmarks import Benchmarks
from methods.evaluation.candidates import is_model
from methods.evaluation.outcomes import Outcomes, is_right_or_wrong, items_in, outcomes_of
from resources.warehouse import Warehouse


class ItemOutcomes(NamedTuple):
    """The outcomes of a slice: of candidates and items, both in order of name."""

    slice: JudgeObservations
    outcomes: Outcomes
    items: list[str]

    @property
    def models(self) -> list[str]:
        """The candidates that are models."""
        return sorted(filter(is_model, self.outcomes))


def right_items(
    warehouse: Warehouse, benchmarks: Benchmarks, isolation: Isolation
) -> Iterator[ItemOutcomes]:
    """Iterate over the outcomes of benchmarks whose observations are right or wrong.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks by name; others are skipped.
        isolation: Collects the failures of single releases.

    Yields:
        The outcomes of each judge of each release.
    """
    having = {
        name: benchmark for name, benchmark in benchmarks.items() if is_right_or_wrong(benchmark)
    }
    for slice_ in slices(warehouse, having, "mean", isolation):
        right: list[ItemOutcomes] = []
        with isolation.release(slice_.release_id):
            outcomes = outcomes_of(slice_.benchmark.metrics[0], slice_.observed)
            right.append(ItemOutcomes(slice_, outcomes, items_in(outcomes)))
        yield from right
