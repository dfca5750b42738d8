"""Metrics: how observations become a score, one module per metric.

A metric turns observations into units, which are averaged: turns, items or groups. Everything else is
the same for every metric: the mean of the units, its interval over clusters, the forms for failures,
comparisons and ranks (`methods/evaluation/scoring.py`). Observations and units are pandas data frames
(`observations.py`, `units.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from methods.evaluation.metrics.observations import label_column

if TYPE_CHECKING:
    import pandas as pd

_AVERAGED = {
    "micro": "the mean over all turns",
    "macro": "the mean over items of the mean of their turns",
}
BY_LABEL = "macro by "
UNLABELLED = "none"
"""The stratum of items that lack the label."""


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
    def units(
        self, observed: "pd.DataFrame", *, floor: bool, by: Sequence[str] = ("model",)
    ) -> "pd.DataFrame":
        """Make the units of each model.

        Args:
            observed: Observations of any number of models; the metric selects its own.
            floor: Whether an observation without a value counts as the lowest value.
            by: The columns that separate units, such as the model and a label.

        Returns:
            The units, with the columns `by` and those of `units.UNIT_COLUMNS`.
        """

    @property
    def terms(self) -> tuple[Term, ...]:
        """The metrics whose weighted sum the number is: itself alone, unless it is a composite."""
        return (Term(self, 1.0),)

    @property
    def weights(self) -> list[float]:
        """The weights of the terms."""
        return [term.weight for term in self.terms]

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

    def strata(self, observed: "pd.DataFrame") -> "pd.Series[int] | int":
        """Return the stratum of each observation: the mean is over the means of strata.

        Args:
            observed: The observations.

        Returns:
            The number of the averaged label's value, -1 without the label. A metric that averages over
            no label has a single stratum.
        """
        column = label_column(self.aggregation.removeprefix(BY_LABEL))
        if not self.aggregation.startswith(BY_LABEL) or column not in observed:
            return 0
        return observed[column].cat.codes
