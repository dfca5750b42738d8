"""The observations of one model in columns: a sequence of `ScoredObservation` that takes a tenth of
their memory.

What is the same on many observations (items, labels, texts) is one number in each, and stands once in
`ObservationNames`, which the models of a release share. A part has the numbers of its rows; its columns
are taken when they are asked for.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.metrics import Key, ScoredObservation

T = TypeVar("T", bound=Hashable)
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Numbering(dict[T, int]):
    """Things by number, in the order in which they were first asked for."""

    def __missing__(self, thing: T) -> int:
        number = self[thing] = len(self)
        return number


class ObservationNames:
    """The names behind the numbers in the columns of observations; equal labels are stored once.

    `keys` are those of units that were made from single `ScoredObservation`s.
    """

    def __init__(self) -> None:
        self.items = Numbering[str]()
        self.clusters = Numbering[str]()
        self.trials = Numbering[str]()
        self.metrics = Numbering[str]()
        self.statuses = Numbering[str]()
        self.parts = Numbering[str]()
        self.keys = Numbering[Key]()
        self.labels: list[Mapping[str, str]] = []
        self._labels = Numbering[tuple[tuple[str, str], ...]]()

    def number_of(self, labels: Mapping[str, str]) -> int:
        """The number of these labels."""
        number = self._labels[tuple(labels.items())]
        if number == len(self.labels):
            self.labels.append(labels)
        return number


class ObservationColumns(NamedTuple):
    """One value per observation in each column; a missing value is NaN.

    `replicates` has tuples; None if no observation has replicates.
    """

    items: NDArray[np.int32]
    clusters: NDArray[np.int32]
    trials: NDArray[np.int32]
    turns: NDArray[np.int32]
    metrics: NDArray[np.int32]
    values: Floats
    statuses: NDArray[np.int32]
    refused: Flags
    labels: NDArray[np.int32]
    parts: NDArray[np.int32]
    replicates: NDArray[np.object_] | None


class Observations(Sequence[ScoredObservation]):
    """Observations in columns; `rows` selects a part, None all of them."""

    def __init__(
        self, names: ObservationNames, columns: ObservationColumns, rows: Numbers | None = None
    ):
        self.names = names
        self._columns = columns
        self._rows = rows

    @classmethod
    def from_scored(
        cls, scored: Sequence[ScoredObservation], names: ObservationNames | None = None
    ) -> "Observations":
        """Convert observations to columns.

        Args:
            scored: The observations.
            names: The names to number by; None for new ones.

        Returns:
            The observations.
        """
        if isinstance(scored, Observations) and (names is None or scored.names is names):
            return scored
        names = names or ObservationNames()
        rows = [
            (
                names.items[observation.item_id],
                names.clusters[observation.cluster],
                names.trials[observation.trial],
                observation.turn,
                names.metrics[observation.metric],
                np.nan if observation.value is None else observation.value,
                names.statuses[observation.status],
                observation.refused,
                names.number_of(observation.labels),
                names.parts[observation.part],
            )
            for observation in scored
        ]
        kinds = (np.int32,) * 5 + (np.float64, np.int32, np.bool_) + (np.int32,) * 2
        columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
        replicates = replicates_of([one.replicates for one in scored])
        arrays: list[NDArray[Any]] = [
            np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)
        ]
        return cls(names, ObservationColumns._make([*arrays, replicates]))

    def column(self, name: str) -> NDArray[Any]:
        """The column of that name, of the rows of the part."""
        column: NDArray[Any] = getattr(self._columns, name)
        return column if self._rows is None else column[self._rows]

    @property
    def has_value(self) -> Flags:
        """Flags of the observations that have a value."""
        return ~np.isnan(self.column("values"))

    def take(self, which: Flags) -> "Observations":
        """The part with these observations."""
        if which.all():
            return self
        rows = np.flatnonzero(which)
        return Observations(
            self.names, self._columns, rows if self._rows is None else self._rows[rows]
        )

    def having(self, column: str, name: str) -> Flags:
        """Flag the observations with a name in a column.

        Args:
            column: The column.
            name: The name.

        Returns:
            Flags, one per observation.
        """
        number = getattr(self.names, column).get(name, -1)
        return np.asarray(self.column(column) == number)

    @property
    def label_sets(self) -> list[Mapping[str, str]]:
        """The labels that observations have, each once."""
        return [self.names.labels[number] for number in np.unique(self.column("labels"))]

    def __len__(self) -> int:
        return len(self._columns.items) if self._rows is None else len(self._rows)

    def __iter__(self) -> Iterator[ScoredObservation]:
        names = self.names
        named = [list[str](getattr(names, name)) for name in _NAMED]
        # Some at a time: lists of numbers take more memory than their arrays.
        for start in range(0, len(self), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            column_values = {name: self.column(name)[some].tolist() for name in _PLAIN}
            items, clusters, trials, metrics, statuses, parts = (
                map(texts.__getitem__, column_values[name])
                for name, texts in zip(_NAMED, named, strict=True)
            )
            values = (None if value != value else value for value in column_values["values"])
            labels = map(names.labels.__getitem__, column_values["labels"])
            replicates: Sequence[tuple[float, ...]] = (
                ((),) * len(column_values["turns"])
                if self._columns.replicates is None
                else self.column("replicates")[some].tolist()
            )
            yield from map(
                ScoredObservation,
                *(items, clusters, trials, column_values["turns"], metrics, values),
                *(statuses, column_values["refused"], labels, parts, replicates),
            )

    @overload
    def __getitem__(self, place: int) -> ScoredObservation: ...
    @overload
    def __getitem__(self, place: slice) -> "Observations": ...
    def __getitem__(self, place: int | slice) -> "ScoredObservation | Observations":
        rows = np.arange(len(self)) if self._rows is None else self._rows
        if isinstance(place, slice):
            return Observations(self.names, self._columns, rows[place])
        (observation,) = Observations(self.names, self._columns, rows[[place]])
        return observation


_NAMED = ("items", "clusters", "trials", "metrics", "statuses", "parts")
_PLAIN = (*_NAMED, "turns", "values", "refused", "labels")
_AT_ONCE = 10_000


def replicates_of(values: Sequence[tuple[float, ...]]) -> NDArray[np.object_] | None:
    """Return the column of replicates; None if there are none."""
    if not any(values):
        return None
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def with_names_in_common(
    observed: Mapping[str, Sequence[ScoredObservation]],
) -> dict[str, Observations]:
    """Each model's observations in columns that share their names."""
    names_by_id = {
        id(observations.names): observations.names
        for observations in observed.values()
        if isinstance(observations, Observations)
    }
    names = next(iter(names_by_id.values())) if len(names_by_id) == 1 else ObservationNames()
    return {model: Observations.from_scored(scored, names) for model, scored in observed.items()}


@dataclass(frozen=True)
class Groups:
    """Observations by the unit that they are part of: units are in the order of their first one."""

    first: Numbers
    """The first observation of each."""
    group_of: Numbers
    """The group of each observation."""

    def __len__(self) -> int:
        return len(self.first)

    def count(self, which: Flags) -> Numbers:
        """How many of these observations each group has."""
        return np.bincount(self.group_of[which], minlength=len(self.first))


def grouped(numbers: NDArray[Any]) -> Groups:
    """Observations whose numbers are equal, together."""
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Groups(first[order], place[inverse.reshape(-1)])
