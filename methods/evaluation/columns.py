"""Columns of units packed into arrays, and the mean of each with its interval.

A column has 20 bytes for each cluster and stratum, where the units themselves have some hundred bytes
each; equal columns, as those of a model that failed nothing are in every form, are kept and worked out
once. A mean of strata has pseudo-values there:

    theta = (1/L) sum_s theta_s,    dtheta/dw_c = (1/L) sum_s (t_cs - theta_s n_cs) / N_s

times sqrt(C_s / (C_s - 1)) for the C_s clusters of stratum s. A composite is a weighted sum of means
(`statistics/weighted_sums.py`).
"""

import hashlib
from collections.abc import Sequence
from itertools import chain
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.metrics import Unit
from methods.evaluation.metrics.observations import ObservationNames
from methods.evaluation.metrics.terms import WeightedTerms
from methods.evaluation.metrics.units import Units
from methods.evaluation.statistics.bootstrap import ClusterTotals, Floats
from methods.evaluation.statistics.estimates import Estimate
from methods.evaluation.statistics.intervals import pseudo_values, score_estimates
from methods.evaluation.statistics.weighted_sums import weighted_sum

ROWS_AT_ONCE = 1_000
"""Columns that are worked on at once, of about as many clusters."""
Column = Sequence[Unit] | WeightedTerms
"""The units that one number is the mean of, or those of the terms of a composite."""
Ends = tuple[float, float]
"""The lowest and the highest value that a unit can have."""


class _Row(NamedTuple):
    """A column's units of one stratum: sum and number of values in each cluster that has any."""

    clusters: NDArray[np.int32]
    sums: Floats
    sizes: Floats


class _PackedTerm(NamedTuple):
    """One term: a row for each stratum, and the mean of these where there are several."""

    rows: list[_Row]
    mean: float | None


class _Sum(NamedTuple):
    """A column: its terms with their weights, and the ends of its scale."""

    weights: Sequence[float]
    terms: list[_PackedTerm]
    ends: Ends


class UnitColumns:
    """Columns that are worked out together; the mean is over units, or over the means of strata."""

    def __init__(self) -> None:
        self._names = ObservationNames()
        self._clusters: dict[str, int] = {}
        self._number_of: dict[int, tuple[ObservationNames, NDArray[np.int32]]] = {}
        self._columns: list[_Sum] = []
        self._place: dict[bytes, int] = {}
        self._added: list[int] = []
        self._last: tuple[Column | None, Ends] = (None, (0.0, 0.0))

    def add(self, units: Column, ends: Ends) -> None:
        """Add a column.

        Args:
            units: The units of the column.
            ends: The lowest and the highest value of a unit.
        """
        if units is self._last[0] and ends == self._last[1]:
            self._added.append(self._added[-1])
            return
        self._last = units, ends
        terms = (
            units
            if isinstance(units, WeightedTerms)
            else WeightedTerms([1.0], [self._as_units(units)])
        )
        packed = list(map(self._packed, terms.units))
        sizes = [[len(row.sums) for row in term.rows] for term in packed]
        about = repr((ends, [*terms.weights], sizes))
        digest = hashlib.blake2b(about.encode(), digest_size=16)
        for row in chain.from_iterable(term.rows for term in packed):
            for part in row:
                digest.update(part.tobytes())
        place = self._place.setdefault(digest.digest(), len(self._columns))
        if place == len(self._columns):
            self._columns.append(_Sum(terms.weights, packed, ends))
        self._added.append(place)

    def estimates(self) -> list[Estimate]:
        """The mean of every column with its interval, in the order in which they were added."""
        clustered = [_clustered(column) for column in self._columns]
        # Columns of about as many clusters stand together, so that little of their table is empty.
        order = sorted(range(len(clustered)), key=lambda place: len(clustered[place][0]))
        estimate_of_column: dict[int, Estimate] = {}
        for start in range(0, len(order), ROWS_AT_ONCE):
            some = order[start : start + ROWS_AT_ONCE]
            width = len(clustered[some[-1]][0])
            totals = ClusterTotals(*np.zeros((2, len(some), width)))
            for number, place in enumerate(some):
                sums, sizes = clustered[place]
                totals.sums[number, : len(sums)] = sums
                totals.sizes[number, : len(sums)] = sizes
            low, high = np.array([self._columns[place].ends for place in some]).T
            estimate_of_column |= zip(some, score_estimates(totals, low, high), strict=True)
        return [estimate_of_column[place] for place in self._added]

    def _as_units(self, units: Sequence[Unit]) -> Units:
        return Units.from_units(units, None if isinstance(units, Units) else self._names)

    def _packed(self, units: Units) -> _PackedTerm:
        valued = units.valued()
        clusters = self._numbers_of(valued)
        strata = valued.of_strata()
        rows = [_row(clusters[members], valued.values[members]) for _, members in strata]
        if len(strata) < 2:
            return _PackedTerm(rows, None)
        return _PackedTerm(
            rows, fmean(fmean(valued.values[members].tolist()) for _, members in strata)
        )

    def _numbers_of(self, units: Units) -> NDArray[np.int32]:
        """The number of each unit's cluster among those of all columns."""
        cluster_names = units.names.clusters
        _, number_of = self._number_of.get(id(units.names), (None, np.zeros(0, np.int32)))
        if len(number_of) < len(cluster_names):
            more = np.full(len(cluster_names) - len(number_of), -1, dtype=np.int32)
            number_of = np.concatenate([number_of, more])
            self._number_of[id(units.names)] = units.names, number_of
        new = [code for code in np.unique(units.clusters).tolist() if number_of[code] < 0]
        if new:
            names = list(cluster_names)
            for code in new:
                number_of[code] = self._clusters.setdefault(names[code], len(self._clusters))
        return number_of[units.clusters]


def _row(clusters: NDArray[np.int32], values: Floats) -> _Row:
    present, places = np.unique(clusters, return_inverse=True)
    places = places.reshape(-1)
    sums: Floats = np.bincount(places, weights=values).astype(float)
    return _Row(present, sums, np.bincount(places).astype(float))


def estimate(columns: Sequence[Column], ends: Sequence[Ends]) -> list[Estimate]:
    """Estimate the mean of each column's units with its interval.

    Args:
        columns: The units of each column.
        ends: The lower and upper end of the values of each column.

    Returns:
        An estimate for each column.
    """
    packed = UnitColumns()
    for units, of_column in zip(columns, ends, strict=True):
        packed.add(units, of_column)
    return packed.estimates()


def _clustered(column: _Sum) -> tuple[Floats, Floats]:
    """Sums and sizes by cluster of a column."""
    terms = list(map(_of_term, column.terms))
    if len(terms) == 1 and column.weights[0] == 1:
        _, sums, sizes = terms[0]
        return sums, sizes
    clusters = np.unique(np.concatenate([of_term for of_term, _, _ in terms]))
    totals = [ClusterTotals(*np.zeros((2, 1, len(clusters)))) for _ in terms]
    for total, (of_term, sums, sizes) in zip(totals, terms, strict=True):
        places = np.searchsorted(clusters, of_term)
        total.sums[0, places], total.sizes[0, places] = sums, sizes
    whole = weighted_sum(column.weights, totals)
    return whole.sums[0], whole.sizes[0]


def _of_term(term: _PackedTerm) -> tuple[NDArray[np.int32], Floats, Floats]:
    """Clusters, sums and sizes; of a mean of strata, pseudo-values and 1 for each."""
    if not term.rows:
        return np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0)
    if len(term.rows) == 1:
        return term.rows[0]
    clusters = np.unique(np.concatenate([row.clusters for row in term.rows]))
    influences = np.zeros(len(clusters))
    assert term.mean is not None
    for row in term.rows:
        n = len(row.sums)
        # A single cluster does not say how its stratum varies: the others' mean stands in for it.
        mean = row.sums.sum() / row.sizes.sum() if n > 1 else term.mean
        places = np.searchsorted(clusters, row.clusters)
        spread = (n / (n - 1)) ** 0.5 if n > 1 else 1.0
        influences[places] += spread * (row.sums - mean * row.sizes) / row.sizes.sum()
    influences = (influences - influences.mean()) / len(term.rows)
    return clusters, pseudo_values(term.mean, influences), np.ones(len(clusters))
