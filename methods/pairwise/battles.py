"""Battles: comparisons of two models' answers with their outcomes, as arrays.

outcome of a battle: 1 the first model won, 0 the second one, 0.5 a tie
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.statistics.bootstrap import Clusters, Floats

FIRST, TIE, SECOND = 1.0, 0.5, 0.0
WINNERS: Mapping[str, float] = {
    "model_a": FIRST,
    "model_b": SECOND,
    "tie": TIE,
}
"""Outcomes by the words of published battles."""


class Battle(NamedTuple):
    """One comparison. `cluster` is the cluster of its item, and its style has one difference per
    feature.
    """

    first: str
    second: str
    outcome: float
    cluster: str
    weight: float = 1.0
    style: tuple[float, ...] = ()


@dataclass(frozen=True)
class Battles:
    """Battles as arrays of one length; `first` and `second` are places in `models`, sorted names.

    `style` is battles x features.
    """

    models: Sequence[str]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    outcomes: Floats
    clusters: Clusters
    weights: Floats
    style: Floats

    @property
    def n_clusters(self) -> int:
        """How many clusters there are; they are numbered from 0."""
        return int(self.clusters.max()) + 1 if len(self.clusters) else 0

    def where(self, chosen: NDArray[np.bool_]) -> "Battles":
        """The chosen battles, of the same models; clusters are numbered again."""
        _, clusters = np.unique(self.clusters[chosen], return_inverse=True)
        return Battles(
            self.models,
            self.first[chosen],
            self.second[chosen],
            self.outcomes[chosen],
            clusters.reshape(-1),
            self.weights[chosen],
            self.style[chosen],
        )

    def wins(self) -> Floats:
        """Weight of the wins of each model over each other one, ties half: models x models."""
        k = len(self.models)
        return self.wins_by_cluster().sum(axis=1).reshape(k, k)

    def wins_by_cluster(self) -> Floats:
        """The same for each cluster: (models x models, a row each) x clusters."""
        k = len(self.models)
        wins = np.zeros((k * k, self.n_clusters))
        np.add.at(wins, (self.first * k + self.second, self.clusters), self.weights * self.outcomes)
        lost = self.weights * (1 - self.outcomes)
        np.add.at(wins, (self.second * k + self.first, self.clusters), lost)
        return wins


def battles_of(battles: Iterable[Battle], models: Iterable[str] = ()) -> Battles:
    """Put battles into arrays.

    Args:
        battles: Comparisons of two models each, with an outcome.
        models: Further models, which may have no battle.

    Returns:
        The arrays; models are numbered in the order of their names.
    """
    rows = list(battles)
    names = sorted({*models, *(name for row in rows for name in (row.first, row.second))})
    place = {name: number for number, name in enumerate(names)}
    _, clusters = np.unique([row.cluster for row in rows], return_inverse=True)
    n_features = max((len(row.style) for row in rows), default=0)
    return Battles(
        names,
        np.array([place[row.first] for row in rows], dtype=np.int64),
        np.array([place[row.second] for row in rows], dtype=np.int64),
        np.array([row.outcome for row in rows], dtype=float),
        clusters.reshape(-1).astype(np.int64),
        np.array([row.weight for row in rows], dtype=float),
        np.array([row.style for row in rows], dtype=float).reshape(len(rows), n_features),
    )
