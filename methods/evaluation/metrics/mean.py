"""Means of observations: over all of them, or over items or labels that are averaged first.

    micro            sum_i sum_t s_it / sum_i n_i
    macro            (1/I) sum_i (1/n_i) sum_t s_it
    macro by label   (1/L) sum_l mean of the s_it of the items with label value l

MMDU's text has the macro mean over dialogues, its released code the micro mean (MMDU, 2.3); MMIU and
AlignMMBench take the unweighted mean over tasks (MMIU, 3.3; AlignMMBench, 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from methods.evaluation.asking import PLAIN
from methods.evaluation.metrics import Metric, ScoredObservation, Unit
from methods.evaluation.metrics.observations import Floats, Observations, grouped
from methods.evaluation.metrics.units import Units, turn_numbers


@dataclass(frozen=True, kw_only=True)
class Mean(Metric):
    """Mean of the observations `observation` (its name by default) of a trial, times `scale`.

    Several observations of one turn, such as both orders of a pair, are averaged first.
    """

    observation: str | None = None
    trial: str = PLAIN
    scale: float = 1.0

    def units(self, observed: Sequence[ScoredObservation], *, floor: bool) -> Sequence[Unit]:
        """Make one unit per turn; one per item if items are averaged.

        Args:
            observed: The model's observations.
            floor: Whether an observation without a value counts as the lowest value.

        Returns:
            The units.
        """
        every = Observations.from_scored(observed)
        scored = every.take(
            every.having("metrics", self.observation or self.name)
            & every.having("trials", self.trial)
        )
        items = scored.column("items")
        whole_items = self.aggregation == "macro"
        numbers = (
            items.astype(np.int64) if whole_items else turn_numbers(items, scored.column("turns"))
        )
        groups = grouped(numbers)
        values = self.values_of(scored)
        if floor:
            values = np.where(np.isnan(values), self.lowest, values)
        has_value = ~np.isnan(values)
        sizes = groups.count(has_value)
        # In the order of the observations, as each by itself would be added.
        sums = np.bincount(
            groups.group_of[has_value], weights=values[has_value], minlength=len(groups)
        )
        means = np.divide(sums, sizes, out=np.full(len(groups), np.nan), where=sizes > 0)
        return Units(
            scored.names,
            "item" if whole_items else "turn",
            numbers[groups.first],
            scored.column("clusters")[groups.first],
            means,
            *self.strata(scored, groups.first),
        )

    def values_of(self, observations: Observations) -> Floats:
        """Return the counted value of each observation; NaN if there is none."""
        values: Floats = observations.column("values") * self.scale
        return values


@dataclass(frozen=True, kw_only=True)
class MeanOrRefused(Mean):
    """The same with every turn that the model declined as the best one (MMBench, 5.3, Table 4)."""

    refusals_are_right: bool = True

    def values_of(self, observations: Observations) -> Floats:
        """Return the values of observations, with the best value for refusals."""
        best = self.highest / self.scale * self.scale
        return np.where(observations.column("refused"), best, super().values_of(observations))


@dataclass(frozen=True, kw_only=True)
class MeanWithoutRefused(Mean):
    """The same without the turns that the model declined (MMIU, 4.1)."""

    def units(self, observed: Sequence[ScoredObservation], *, floor: bool) -> Sequence[Unit]:
        """Make the units of all turns without refusals.

        Args:
            observed: The model's observations.
            floor: Whether an observation without a value counts as the lowest value.

        Returns:
            The units.
        """
        every = Observations.from_scored(observed)
        return super().units(every.take(~every.column("refused")), floor=floor)
