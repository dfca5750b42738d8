"""The units of one model by one metric in columns: a sequence of `Unit`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.metrics import Key, Unit
from methods.evaluation.metrics.observations import Flags, Floats, Numbers, ObservationNames

Kind = Literal["item", "turn", "cluster", "key"]
"""A unit: an item, a turn of an item, a cluster, or a key of `ObservationNames.keys`."""
_TURNS = 2**32


@dataclass(frozen=True, eq=False)
class Units(Sequence[Unit]):
    """Units in columns; a value is NaN where a unit has none. `numbers` tell the keys."""

    names: ObservationNames
    kind: Kind
    numbers: Numbers
    clusters: NDArray[np.int32]
    values: Floats
    strata: NDArray[np.int32]
    stratum_names: Sequence[str] = ("",)

    @classmethod
    def from_units(cls, units: Sequence[Unit], names: ObservationNames | None = None) -> "Units":
        """Convert units to columns.

        Args:
            units: The units.
            names: The names to number by; None for new ones.

        Returns:
            The units.
        """
        if isinstance(units, Units) and (names is None or units.names is names):
            return units
        names = names or ObservationNames()
        strata: dict[str, int] = {}
        rows = [
            (
                names.keys[unit.key],
                names.clusters[unit.cluster],
                np.nan if unit.value is None else unit.value,
                strata.setdefault(unit.stratum, len(strata)),
            )
            for unit in units
        ]
        kinds = (np.int64, np.int32, np.float64, np.int32)
        columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
        numbers, clusters, values, places = (
            np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)
        )
        return cls(names, "key", numbers, clusters, values, places, list(strata) or [""])

    @property
    def keys(self) -> list[Key]:
        """The key of each unit."""
        if self.kind == "turn":
            items = list(self.names.items)
            numbers = self.numbers.tolist()
            return [(items[number // _TURNS], number % _TURNS) for number in numbers]
        if self.kind == "key":
            keys = list(self.names.keys)
            return [keys[number] for number in self.numbers.tolist()]
        texts = list(self.names.items if self.kind == "item" else self.names.clusters)
        return [(texts[number],) for number in self.numbers.tolist()]

    @cached_property
    def has_strata(self) -> bool:
        """Whether any unit is of a stratum with a name."""
        return any(self.stratum_names[place] for place in np.unique(self.strata))

    def take(self, which: Flags | Numbers) -> "Units":
        """Some of the units."""
        return replace(
            self,
            numbers=self.numbers[which],
            clusters=self.clusters[which],
            values=self.values[which],
            strata=self.strata[which],
        )

    def valued(self) -> "Units":
        """The units that have a value."""
        has_value = ~np.isnan(self.values)
        return self if has_value.all() else self.take(has_value)

    def equals(self, other: "Units") -> bool:
        """Whether the units are the same, in the same order."""
        return (
            (self.names, self.kind) == (other.names, other.kind)
            and np.array_equal(self.numbers, other.numbers)
            and np.array_equal(self.values, other.values, equal_nan=True)
            and np.array_equal(self.clusters, other.clusters)
            and [self.stratum_names[place] for place in self.strata.tolist()]
            == [other.stratum_names[place] for place in other.strata.tolist()]
        )

    def of_strata(self) -> list[tuple[str, Numbers]]:
        """Name and units of each stratum, in the order of their first one."""
        if not len(self.strata):
            return []
        places, first, sizes = np.unique(self.strata, return_index=True, return_counts=True)
        parts = np.split(np.argsort(self.strata, kind="stable"), np.cumsum(sizes)[:-1])
        return [
            (self.stratum_names[places[place]], parts[place])
            for place in np.argsort(first).tolist()
        ]

    def mean(self) -> float | None:
        """The mean of the values, or of the means of their strata; None without values."""
        valued = self.valued()
        means = [fmean(valued.values[rows].tolist()) for _, rows in valued.of_strata()]
        return fmean(means) if means else None

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Unit]:
        clusters = list(self.names.clusters)
        for key, cluster, value, stratum in zip(
            self.keys,
            self.clusters.tolist(),
            self.values.tolist(),
            self.strata.tolist(),
            strict=True,
        ):
            value_or_none = None if value != value else value
            yield Unit(key, clusters[cluster], value_or_none, self.stratum_names[stratum])

    @overload
    def __getitem__(self, place: int) -> Unit: ...
    @overload
    def __getitem__(self, place: slice) -> "Units": ...
    def __getitem__(self, place: int | slice) -> "Unit | Units":
        rows = np.arange(len(self))
        if isinstance(place, slice):
            return self.take(rows[place])
        (unit,) = self.take(rows[[place]])
        return unit


def turn_numbers(items: NDArray[Any], turns: NDArray[Any]) -> Numbers:
    """Number the turns of items so that equal numbers mean the same turn of the same item.

    Args:
        items: The number of the item of each observation.
        turns: The turn of each observation, from 1.

    Returns:
        A number for each observation.
    """
    numbers: Numbers = items.astype(np.int64) * _TURNS + turns
    return numbers


def comparable(columns: Sequence[Sequence[Unit]]) -> list[Units]:
    """The columns with keys and clusters that can be compared by their numbers."""
    same_kind = [units for units in columns if isinstance(units, Units)]
    if (
        len(same_kind) == len(columns)
        and len({(id(of.names), of.kind) for of in same_kind if len(of)}) <= 1
    ):
        return same_kind
    names = ObservationNames()
    return [Units.from_units(list(units), names) for units in columns]


def in_all(columns: Sequence[Units]) -> Numbers:
    """The numbers of the units that all columns have, in order; none where there are no columns."""
    shared = np.unique(columns[0].numbers) if columns else np.zeros(0, dtype=np.int64)
    for units in columns[1:]:
        shared = shared[np.isin(shared, units.numbers)]
    return shared


def aligned(columns: Sequence[Sequence[Unit]]) -> list[Units]:
    """The units that all columns have, in the same order."""
    alike = comparable(columns)
    shared = in_all(alike)
    shared_units = [units.take(np.isin(units.numbers, shared)) for units in alike]
    return [units.take(np.argsort(units.numbers)) for units in shared_units]


def by_stratum(columns: Sequence[Units]) -> list[Units]:
    """The units that all have, weighted so that the mean of all is the mean m of the strata's means.

    With the weight w = n / (L n_l) of a unit of the l-th of L strata its value x becomes m + w (x - m).
    So equal values stay equal, and the weights of units are not taken for differences between them.
    """
    shared = in_all(columns)
    first, *_ = common = [units.take(np.isin(units.numbers, shared)) for units in columns]
    sizes = Counter(first.stratum_names[place] for place in first.strata.tolist())
    weight_of = {name: len(shared) / (len(sizes) * size) for name, size in sizes.items()}
    weighted = []
    for units in common:
        values, weights = np.nan_to_num(units.values, nan=0.0), _weights(units, weight_of)
        mean = float(np.mean(values * weights)) if len(values) else 0.0
        weighted.append(replace(units, values=mean + weights * (values - mean)))
    return weighted


def _weights(units: Units, weight_of: dict[str, float]) -> Floats:
    weights = np.full(len(units.stratum_names), np.nan)
    for place in np.unique(units.strata).tolist():
        weights[place] = weight_of[units.stratum_names[place]]
    return weights[units.strata]


def matrix(columns: Sequence[Sequence[Unit]]) -> tuple[Floats, NDArray[np.int64]]:
    """Values (models x units, NaN where a model lacks a unit) and the cluster of each unit.

    Units are in the order of their keys as texts, clusters of their names.
    """
    alike = comparable(columns)
    together = _joined(alike)
    _, first = np.unique(together.numbers, return_index=True)
    units = together.take(first)
    places = np.empty(len(units), dtype=np.int64)
    places[sorted(range(len(units)), key=list(map(str, units.keys)).__getitem__)] = np.arange(
        len(units)
    )
    names = list(units.names.clusters)
    cluster_numbers, cluster_of = np.unique(units.clusters, return_inverse=True)
    order = sorted(range(len(cluster_numbers)), key=lambda place: names[cluster_numbers[place]])
    rank = np.empty(len(cluster_numbers), dtype=np.int64)
    rank[order] = np.arange(len(cluster_numbers))
    clusters = np.empty(len(units), dtype=np.int64)
    clusters[places] = rank[cluster_of.reshape(-1)]
    values = np.full((len(columns), len(units)), np.nan)
    for row, column in zip(values, alike, strict=True):
        row[places[np.searchsorted(units.numbers, column.numbers)]] = column.values
    return values, clusters


def cluster_names(columns: Sequence[Units]) -> NDArray[np.str_]:
    """The names of the clusters of all units, in the order in which `matrix` has them."""
    names = {unit_names for units in columns for unit_names in _cluster_names(units)}
    return np.array(sorted(names), dtype=np.str_)


def _cluster_names(units: Units) -> list[str]:
    names = list(units.names.clusters)
    return [names[number] for number in np.unique(units.clusters).tolist()]


def _joined(columns: Sequence[Units]) -> Units:
    """All units of all columns; their strata are left out."""
    named = next((units for units in columns if len(units)), None) or Units.from_units([])
    return replace(
        named,
        numbers=np.concatenate([named.numbers[:0], *(units.numbers for units in columns)]),
        clusters=np.concatenate([named.clusters[:0], *(units.clusters for units in columns)]),
        values=np.concatenate([named.values[:0], *(units.values for units in columns)]),
        strata=np.zeros(sum(map(len, columns)), dtype=np.int32),
        stratum_names=("",),
    )
