"""Metrics: how the observations of one model become one number, one file a metric.

A metric makes units of observations: a unit is what is averaged (a turn, an item, a group). All that
follows is the same for every metric: the mean of the units' values, its interval over clusters of
units, the forms for failures, comparisons and ranks (`methods/evaluation/scoring.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from methods.evaluation.metrics.observations import Observations

BY_LABEL = "macro by "
UNLABELLED = "none"
"""The stratum of items that lack the label."""
Key = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ScoredObservation:
    """One observation of one model with what its item is; `value` is None unless it was judged.

    `status` is that of the observation; `refused`: the model declined, in words or by a filter.
    `part` tells several judgments of a turn apart. `replicates` are the values of the judge's
    repetitions, whose mean is `value`; empty where there is one, or where `value` is made otherwise.
    """

    item_id: str
    cluster: str
    trial: str
    turn: int
    metric: str
    value: float | None
    status: str = "judged"
    refused: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    part: str = ""
    replicates: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """What is averaged. `key` tells it from the model's other units, and finds it with other models.

    `cluster` is drawn as a whole. The mean is over all units, or, where strata are named, over the
    means of the strata.
    """

    key: Key
    cluster: str
    value: float | None
    stratum: str = ""


class Term(NamedTuple):
    """A metric whose number enters a composite metric, and its weight there."""

    metric: "Metric"
    weight: float


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """One way to make a number of observations.

    `lowest` is the value of a unit that the model failed, the worst one, and `highest` the best one
    that a unit can have, both as they are shown; where less is better, `lowest` is the larger number.
    `aggregation` says what is averaged: `micro` (units alike), `macro` (items alike), `macro by
    <label>` (the values of that label alike).
    """

    name: str
    lowest: float
    highest: float
    aggregation: str = "micro"
    higher_is_better: bool = True
    inverse: bool = False
    """Whether the number falls where the mean of units rises."""
    of_whole_items: bool = False
    """Whether a unit is made of several turns, so that nothing is to be had of some of them."""
    refusals_are_right: bool = False
    """Whether what the model declined counts as right: an upper bound of what it could have."""

    @abstractmethod
    def units(self, observed: Sequence[ScoredObservation], *, floor: bool) -> Sequence[Unit]:
        """The units of one model's observations, of which it takes those it is about.

        With `floor` an observation without a value counts as the lowest one.
        """

    @property
    def terms(self) -> tuple[Term, ...]:
        """The metrics whose weighted sum the number is: itself alone, unless it is a composite."""
        return (Term(self, 1.0),)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest number that a unit can have."""
        return min(self.lowest, self.highest), max(self.lowest, self.highest)

    @property
    def shown_ends(self) -> tuple[float | None, float | None]:
        """The lowest and the highest number that is shown; None where the scale has no end."""
        low, high = sorted(map(self.statistic, (self.lowest, self.highest)))
        return low if isfinite(low) else None, high if isfinite(high) else None

    @property
    def span(self) -> float:
        """How far two models can be apart on a unit."""
        return abs(self.highest - self.lowest)

    def statistic(self, mean: float) -> float:
        """The number that is shown for a mean of units; monotone."""
        return mean

    def strata(
        self, observations: "Observations", first: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], Sequence[str]]:
        """The stratum of each unit, by number, and their names: the value of the label that is averaged
        by, on the unit's `first` observation."""
        label = self.aggregation.removeprefix(BY_LABEL)
        if label == self.aggregation:
            return np.zeros(len(first), dtype=np.int32), ("",)
        names: dict[str, int] = {}
        labels = observations.names.labels
        numbers, place = np.unique(observations.column("labels")[first], return_inverse=True)
        strata = [
            names.setdefault(labels[number].get(label, UNLABELLED), len(names))
            for number in numbers.tolist()
        ]
        return np.array(strata, dtype=np.int32)[place.reshape(-1)], list(names)


def units_with_value(units: Iterable[Unit]) -> list[Unit]:
    """The units that have a value."""
    return [unit for unit in units if unit.value is not None]
