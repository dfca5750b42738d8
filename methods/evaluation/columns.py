"""Columns of units packed into arrays, and the mean of each with its interval.

What belongs here: keeping many columns in little memory, and resampling all of them by the same drawn
clusters. A column has 20 bytes a unit, where the units themselves have some hundred; equal columns, as
those of a model that failed nothing are in every form, are kept and resampled once. A stratum has units
in few clusters, so rows are resampled in groups that are about the same clusters, over these alone.
Which units a column has is `scoring.py`, the bootstrap is `statistics/resampling.py`.
"""

import hashlib
from collections.abc import Hashable, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.metrics import Unit
from methods.evaluation.metrics.observations import Names
from methods.evaluation.metrics.units import Units
from methods.evaluation.statistics.estimates import Estimate
from methods.evaluation.statistics.resampling import (
    ClusterTotals,
    Floats,
    bootstrap_parts,
    percentile_estimates,
    ratio,
)

AT_ONCE, LEAST_AT_ONCE = 1_000, 100
"""Columns that are resampled at once, at most and at least: 80 and 8 MB for 10,000 resamples."""
CLUSTERS_A_COLUMN = 12
"""The more clusters there are, the longer drawing them takes, and the more columns it serves."""
SORTED_AT_ONCE = 100
"""Columns whose percentiles are taken at once: these take copies of what was resampled."""
Column = Sequence[Unit]
"""The units that one number is the mean of."""


class _Row(NamedTuple):
    """A column's units of one stratum: sum and number of values in each cluster that has any."""

    about: Hashable
    clusters: NDArray[np.int32]
    sums: Floats
    sizes: Floats


class _Packed(NamedTuple):
    rows: list[_Row]
    mean: float | None


class Columns:
    """Columns that are resampled together; the mean is over units, or over the means of strata."""

    def __init__(self) -> None:
        self._names = Names()
        self._clusters: dict[str, int] = {}
        self._number_of: dict[int, tuple[Names, NDArray[np.int32]]] = {}
        self._columns: list[_Packed] = []
        self._place: dict[bytes, int] = {}
        self._added: list[int] = []
        self._last: tuple[Column | None, Hashable] = (None, "")

    def add(self, units: Column, about: Hashable = "") -> None:
        """One more column; those `about` the same part of the items are resampled together."""
        if units is self._last[0] and about == self._last[1]:
            self._added.append(self._added[-1])
            return
        self._last = units, about
        of = Units.of(units, None if isinstance(units, Units) else self._names).valued()
        clusters = self._numbers_of(of)
        strata = of.of_strata()
        rows = [
            _row((about, name), clusters[members], of.values[members]) for name, members in strata
        ]
        digest = hashlib.blake2b(repr([row.about for row in rows]).encode(), digest_size=16)
        for row in rows:
            for part in row[1:]:
                digest.update(part.tobytes())
        place = self._place.setdefault(digest.digest(), len(self._columns))
        if place == len(self._columns):
            means = [fmean(of.values[members].tolist()) for _, members in strata]
            self._columns.append(_Packed(rows, fmean(means) if means else None))
        self._added.append(place)

    def estimates(self, *, seed: int, n_resamples: int) -> list[Estimate]:
        """The mean of every column with its interval, in the order in which they were added."""
        names = sorted(self._clusters)
        order = np.empty(len(names), dtype=np.int64)
        order[[self._clusters[name] for name in names]] = np.arange(len(names))
        # Some columns at a time: the same seed draws the same clusters each time.
        at_once = min(AT_ONCE, max(LEAST_AT_ONCE, len(names) // CLUSTERS_A_COLUMN))
        estimates = [
            estimate
            for start in range(0, len(self._columns), at_once)
            for estimate in _estimates(
                self._columns[start : start + at_once], order, seed=seed, n_resamples=n_resamples
            )
        ]
        return [estimates[place] for place in self._added]

    def _numbers_of(self, units: Units) -> NDArray[np.int32]:
        """The number of each unit's cluster among those of all columns."""
        known = units.names.clusters
        _, number_of = self._number_of.get(id(units.names), (None, np.zeros(0, np.int32)))
        if len(number_of) < len(known):
            more = np.full(len(known) - len(number_of), -1, dtype=np.int32)
            number_of = np.concatenate([number_of, more])
            self._number_of[id(units.names)] = units.names, number_of
        new = [code for code in np.unique(units.clusters).tolist() if number_of[code] < 0]
        if new:
            names = list(known)
            for code in new:
                number_of[code] = self._clusters.setdefault(names[code], len(self._clusters))
        return number_of[units.clusters]


def _row(about: Hashable, clusters: NDArray[np.int32], values: Floats) -> _Row:
    present, places = np.unique(clusters, return_inverse=True)
    places = places.reshape(-1)
    sums: Floats = np.bincount(places, weights=values).astype(float)
    return _Row(about, present, sums, np.bincount(places).astype(float))


def estimate(columns: Sequence[Column], *, seed: int, n_resamples: int) -> list[Estimate]:
    """The mean of each column's units with its interval; all columns share the drawn clusters."""
    packed = Columns()
    for units in columns:
        packed.add(units)
    return packed.estimates(seed=seed, n_resamples=n_resamples)


def _estimates(
    columns: Sequence[_Packed], order: NDArray[np.int64], *, seed: int, n_resamples: int
) -> list[Estimate]:
    """Estimates of some columns; `order` has the place of each cluster among the sorted ones."""
    groups: dict[Hashable, list[_Row]] = {}
    place_of: dict[int, tuple[Hashable, int]] = {}
    for column in columns:
        for row in column.rows:
            group = groups.setdefault(row.about, [])
            place_of[id(row)] = row.about, len(group)
            group.append(row)
    ends = np.cumsum([0, *map(len, groups.values())]).tolist()
    starts = dict(zip(groups, ends, strict=False))
    by_strata: dict[int, list[int]] = {}
    rows_of = []
    for number, column in enumerate(columns):
        rows_of.append([starts[about] + at for about, at in (place_of[id(r)] for r in column.rows)])
        by_strata.setdefault(len(column.rows), []).append(number)
    by_strata.pop(0, None)
    resampled = np.full((len(columns), n_resamples), np.nan)
    parts = [_part(rows, order) for rows in groups.values()]
    for start, means in bootstrap_parts(parts, len(order), seed=seed, n_resamples=n_resamples):
        here = slice(start, start + means.shape[1])
        for numbers in by_strata.values():
            of_strata = means[[rows_of[number] for number in numbers]]
            # A stratum that was not drawn leaves the others.
            known = ~np.isnan(of_strata)
            summed = np.where(known, of_strata, 0.0).sum(axis=1)
            resampled[numbers, here] = ratio(summed, known.sum(axis=1).astype(float))
    n_clusters = np.array([_n_clusters(column) for column in columns])
    values = np.array([np.nan if column.mean is None else column.mean for column in columns])
    return [
        estimate
        for start in range(0, len(columns), SORTED_AT_ONCE)
        for some in [slice(start, start + SORTED_AT_ONCE)]
        for estimate in percentile_estimates(values[some], resampled[some], n_clusters[some])
    ]


def _part(
    rows: Sequence[_Row], order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], ClusterTotals]:
    """The clusters that any of the rows is about, and the rows' totals in these."""
    clusters = np.unique(np.concatenate([order[row.clusters] for row in rows]))
    totals = ClusterTotals(*np.zeros((2, len(rows), len(clusters))))
    for number, row in enumerate(rows):
        places = np.searchsorted(clusters, order[row.clusters])
        totals.sums[number, places] = row.sums
        totals.sizes[number, places] = row.sizes
    return clusters, totals


def _n_clusters(column: _Packed) -> int:
    return (
        len(np.unique(np.concatenate([row.clusters for row in column.rows]))) if column.rows else 0
    )
