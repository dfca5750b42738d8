"""How little scores differ over rewrites of one question (AlignMMBench, 4.3).

    sigma_g = population standard deviation of the scores in group g

    alignment score     N / sum_g sigma_g, the inverse of the mean deviation
    mean deviation      sum_g sigma_g / N
    share over a band   share of the groups whose scores do not all lie in one band

The units are groups, so all three have an interval over groups. A group with one score says
nothing and is left out. Where no group differs the alignment score is infinite; the other two are 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import pstdev

import numpy as np

from methods.evaluation.asking import PLAIN
from methods.evaluation.metrics import Metric, ScoredObservation, Unit
from methods.evaluation.metrics.observations import Floats, Observations, grouped
from methods.evaluation.metrics.units import Units


@lru_cache(maxsize=10_000)
def _deviation(values: tuple[float, ...]) -> float:
    # It is exact, so its order does not matter, and slow: few ratings make few different groups.
    return pstdev(values)


@dataclass(frozen=True, kw_only=True)
class GroupSpread(Metric):
    """Mean standard deviation of `observation` within groups, or its inverse.

    `lowest` is the largest possible standard deviation, half the range of the observations, which a
    group with a failed item gets if failures count; `highest` is 0.
    """

    observation: str
    trial: str = PLAIN
    highest: float = 0.0
    inverse: bool = True

    def units(self, observed: Sequence[ScoredObservation], *, floor: bool) -> Sequence[Unit]:
        """Make one unit per group of at least two items.

        Args:
            observed: The model's observations.
            floor: Whether an observation without a value counts as the lowest value.

        Returns:
            The units.
        """
        every = Observations.from_scored(observed)
        turns = every.take(
            every.having("metrics", self.observation) & every.having("trials", self.trial)
        )
        clusters, items, values = map(turns.column, ("clusters", "items", "values"))
        groups = grouped(clusters)
        parts = np.split(
            np.argsort(groups.group_of, kind="stable"),
            np.cumsum(groups.count(np.ones(len(turns), dtype=bool)))[:-1],
        )
        large_enough = [
            place
            for place in range(len(groups))
            if (items[parts[place]] != items[groups.first[place]]).any()
        ]
        first = groups.first[large_enough]
        return Units(
            turns.names,
            "cluster",
            clusters[first].astype(np.int64),
            clusters[first],
            np.array(
                [self._value(values[parts[place]], floor) for place in large_enough], dtype=float
            ),
            *self.strata(turns, first),
        )

    def _value(self, group: Floats, floor: bool) -> float:
        values = group[~np.isnan(group)].tolist()
        if floor and len(values) < len(group):
            return self.lowest
        return self.spread(values) if len(values) > 1 else np.nan

    def spread(self, values: Sequence[float]) -> float:
        """How far the scores of a group differ."""
        return _deviation(tuple(sorted(values)))

    def statistic(self, mean: float) -> float:
        """The mean deviation, or its inverse."""
        if not self.inverse:
            return mean
        return 1 / mean if mean else math.inf


@dataclass(frozen=True, kw_only=True)
class ShareOverBand(GroupSpread):
    """Percent of the groups whose scores do not all lie in one of `bands`, pairs of lowest and highest.

    A score between two bands, as a mean of replicates may be, belongs to the lower one.
    """

    bands: Sequence[tuple[float, float]]
    lowest: float = 100.0
    inverse: bool = False
    higher_is_better: bool = False

    def spread(self, values: Sequence[float]) -> float:
        """100 where the scores lie in several bands, else 0."""
        places = {sum(value >= low for low, _ in self.bands) for value in values}
        return 100.0 if len(places) > 1 else 0.0
