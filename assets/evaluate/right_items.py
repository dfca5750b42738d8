"""Right and wrong answers by item and model, for benchmarks that score answers as right or wrong."""

from collections.abc import Iterator
from typing import NamedTuple

from assets.common.isolation import Isolation
from assets.evaluate.observed import JudgeObservations, slices
from methods.benchmarks import Benchmarks
from methods.evaluation.candidates import is_model
from methods.evaluation.outcomes import Outcomes, is_right_or_wrong, items_in, outcomes_of
from resources.warehouse import Warehouse


class ItemOutcomes(NamedTuple):
    """The outcomes (right or wrong) of a slice by candidate and item, and the sorted item ids."""

    slice: JudgeObservations
    outcomes: Outcomes
    items: list[str]

    @property
    def models(self) -> list[str]:
        """Names of the candidates that are models, without baselines and ablations."""
        return sorted(filter(is_model, self.outcomes))


def right_items(
    warehouse: Warehouse, benchmarks: Benchmarks, isolation: Isolation
) -> Iterator[ItemOutcomes]:
    """Iterate over the outcomes of benchmarks whose observations are right or wrong.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks by name; those with other scores are skipped.
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
