"""Alignment score: how little scores differ over rewrites of one question (AlignMMBench, 4.3).

    sigma_g = population standard deviation of the scores in group g;  score = N / sum_g sigma_g

It is the inverse of the mean deviation, so the units are groups and their value is sigma_g. A group
with one score says nothing and is left out. Where no group differs the score is infinite.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import pstdev

from methods.evaluation.asking import PLAIN
from methods.evaluation.metrics import Metric, Scored, Unit, by_key


@dataclass(frozen=True, kw_only=True)
class GroupSpread(Metric):
    """Inverse of the mean standard deviation of `observation` inside groups.

    `lowest` is the largest standard deviation that there can be, half the range of the observations:
    that of a group with a failed item, where failures count; `highest` is 0.
    """

    observation: str
    trial: str = PLAIN
    highest: float = 0.0
    inverse: bool = True

    def units(self, observed: Sequence[Scored], *, floor: bool) -> list[Unit]:
        """A unit a group of two items or more: the turns of one item are no rewrites of each other."""
        groups = by_key(
            ((each.cluster,), each)
            for each in observed
            if (each.metric, each.trial) == (self.observation, self.trial)
        )
        return [
            Unit(key, group[0].cluster, self._value(group, floor), self.stratum(group[0]))
            for key, group in groups.items()
            if len({each.item_id for each in group}) > 1
        ]

    def _value(self, group: Sequence[Scored], floor: bool) -> float | None:
        known = [each.value for each in group if each.value is not None]
        if floor and len(known) < len(group):
            return self.lowest
        return pstdev(known) if len(known) > 1 else None

    def statistic(self, mean: float) -> float:
        """The inverse of the mean deviation."""
        return 1 / mean if mean else math.inf
