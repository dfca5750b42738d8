"""The terms of a metric and their units.

A metric that is not a composite has one term of weight 1.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from methods.evaluation.metrics import Metric, ScoredObservation
from methods.evaluation.metrics.observations import Observations
from methods.evaluation.metrics.units import Units, comparable, in_all
from methods.evaluation.statistics.weighted_sums import weighted_total


@dataclass(frozen=True, eq=False)
class WeightedTerms:
    """The units of each term, and the weights that their means have in the number."""

    weights: Sequence[float]
    units: Sequence[Units]

    @classmethod
    def from_observations(
        cls, metric: Metric, observed: Sequence[ScoredObservation], *, floor: bool
    ) -> "WeightedTerms":
        """The units of one model that have a value.

        Args:
            metric: A composite or any other metric.
            observed: The observations that count.
            floor: Whether an observation without a value counts as the lowest one.
        """
        names = observed.names if isinstance(observed, Observations) else None
        return cls(
            [term.weight for term in metric.terms],
            [
                Units.from_units(term.metric.units(observed, floor=floor), names).valued()
                for term in metric.terms
            ],
        )

    def __len__(self) -> int:
        """The number of units of the term that has the fewest: without any there is no number."""
        return min(map(len, self.units))

    @property
    def has_strata(self) -> bool:
        """Whether the mean of any term is over strata."""
        return any(units.has_strata for units in self.units)

    def equals(self, other: "WeightedTerms") -> bool:
        """Whether the units of every term are the same, in the same order."""
        return all(map(Units.equals, self.units, other.units))

    def mean(self) -> float | None:
        """The weighted sum of the means of the terms; None where a term has no units."""
        means = [units.mean() for units in self.units]
        existing = [mean for mean in means if mean is not None]
        if len(existing) < len(means):
            return None
        return weighted_total(self.weights, existing)


def in_common(
    columns: Mapping[str, WeightedTerms], decides: Callable[[str], bool]
) -> dict[str, WeightedTerms]:
    """Select the units that every candidate with units has, term by term.

    Args:
        columns: The terms of one metric by candidate.
        decides: Whether a candidate determines the common units; others only use them.

    Returns:
        The common units by candidate.
    """
    common: dict[str, list[Units]] = {name: [] for name in columns}
    for of_term in by_term(columns.values()):
        alike = dict(zip(columns, comparable(of_term), strict=True))
        shared = in_all([units for name, units in alike.items() if len(units) and decides(name)])
        for name, units in alike.items():
            common[name].append(units.take(np.isin(units.numbers, shared)))
    return {name: WeightedTerms(terms.weights, common[name]) for name, terms in columns.items()}


def by_term(columns: Iterable[WeightedTerms]) -> list[list[Units]]:
    """For each term of a metric the units of every column."""
    return [list(units) for units in zip(*(terms.units for terms in columns), strict=True)]


def coverage_of(metric: Metric, observed: Sequence[ScoredObservation]) -> float:
    """The share of the units of a metric that have a value; of a composite, of its least covered term.

    Args:
        metric: A composite or any other metric.
        observed: All observations of one model, also those without a value.

    Returns:
        0 to 1; 0 where a term has no units.
    """
    every = Observations.from_scored(observed)
    shares = []
    for term in metric.terms:
        units = Units.from_units(term.metric.units(every, floor=False), every.names)
        shares.append(len(units.valued()) / len(units) if len(units) else 0.0)
    return min(shares)
