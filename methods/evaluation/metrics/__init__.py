"""Metrics: how the observations of one model become a score, one module per metric.

A metric turns observations into units, which are averaged: turns, items or groups. Everything else is
the same for every metric: the mean of the units, its interval over clusters, the forms for failures,
comparisons and ranks (`methods/evaluation/scoring.py`).
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

_AVERAGED = {
    "micro": "the mean over all turns",
    "macro": "the mean over items of the mean of their turns",
}
BY_LABEL = "macro by "
UNLABELLED = "none"
"""The stratum of items that lack the label."""
Key = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ScoredObservation:
    """One observation of one model with the labels of its item.

    Attributes:
        value: The value; None unless it was judged.
        status: The status of the observation.
        refused: Whether the model refused, in words or by a filter.
        part: Tells several judgments of a turn apart.
        replicates: The values of the judge's repetitions, whose mean is `value`; empty without
            repetitions.
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
    """A value that is averaged.

    Attributes:
        key: Identifies the unit among the model's units and across models.
        cluster: The unit of resampling.
        stratum: If strata are named, the mean is over the means of strata.
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
    """A metric.

    Attributes:
        lowest: The value of a failed unit, the worst one; the larger number if less is better.
        highest: The best value of a unit.
        aggregation: `micro` (equal weight of units), `macro` (of items) or `macro by <label>` (of the
            values of a label).
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
        """Make the units of one model.

        Args:
            observed: The model's observations; the metric selects its own.
            floor: Whether an observation without a value counts as the lowest value.

        Returns:
            The units.
        """

    @property
    def terms(self) -> tuple[Term, ...]:
        """The metrics whose weighted sum the number is: itself alone, unless it is a composite."""
        return (Term(self, 1.0),)

    @property
    def in_words(self) -> str:
        """What the number is the average of, for a methods section."""
        averaged = _AVERAGED.get(self.aggregation)
        if averaged is None:
            label = self.aggregation.removeprefix(BY_LABEL)
            averaged = (
                f"the mean over the values of the label {label}, each of which weighs the same,"
            )
        return f"{averaged} of {self.name}"

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

    @property
    def decimals(self) -> int:
        """How many decimals its numbers have in tables: ratings and their deviations have two."""
        return 2 if self.span <= 10 else 1

    def statistic(self, mean: float) -> float:
        """The number that is shown for a mean of units; monotone."""
        return mean

    def strata(
        self, observations: "Observations", first: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], Sequence[str]]:
        """Return the stratum of each unit: the value of the averaged label on its first observation.

        Args:
            observations: The observations.
            first: The first observation of each unit.

        Returns:
            The number of the stratum of each unit, and the names of the strata.
        """
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
