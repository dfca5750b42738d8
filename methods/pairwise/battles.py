"""Battles (pairwise comparisons of two models' answers, as in Chatbot Arena) as arrays.

The outcome of a battle is 1 if the first model won, 0 if the second one won, and 0.5 for a tie.
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
"""Outcomes by the names of winners in published battles."""


class Battle(NamedTuple):
    """One comparison of two models.

    Attributes:
        first: The name of the first model.
        second: The name of the second model.
        outcome: The first model's share of the win: 1, 0.5 or 0.
        cluster: The cluster of the item, the unit of resampling.
        style: The first answer minus the second in each style feature.
    """

    first: str
    second: str
    outcome: float
    cluster: str
    style: tuple[float, ...] = ()


@dataclass(frozen=True)
class Battles:
    """Battles as arrays with one element per battle. `first` and `second` are indexes into `models`,
    the sorted names; `style` has the shape (battles, features).
    """

    models: Sequence[str]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    outcomes: Floats
    clusters: Clusters
    style: Floats

    @property
    def n_clusters(self) -> int:
        """The number of clusters, which are numbered from 0."""
        return int(self.clusters.max()) + 1 if len(self.clusters) else 0

    def where(self, chosen: NDArray[np.bool_]) -> "Battles":
        """Select the battles for which `chosen` is true. Models stay, clusters are renumbered."""
        _, clusters = np.unique(self.clusters[chosen], return_inverse=True)
        return Battles(
            self.models,
            self.first[chosen],
            self.second[chosen],
            self.outcomes[chosen],
            clusters.reshape(-1),
            self.style[chosen],
        )

    def wins(self) -> Floats:
        """Return a (models, models) matrix: entry [i, j] counts the wins of model i over model j, a
        tie as half a win.
        """
        k = len(self.models)
        return self.wins_by_cluster().sum(axis=1).reshape(k, k)

    def wins_by_cluster(self) -> Floats:
        """Sum wins as in `wins`, for each cluster: shape (models * models, clusters)."""
        k = len(self.models)
        wins = np.zeros((k * k, self.n_clusters))
        np.add.at(wins, (self.first * k + self.second, self.clusters), self.outcomes)
        np.add.at(wins, (self.second * k + self.first, self.clusters), 1 - self.outcomes)
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
        np.array([row.style for row in rows], dtype=float).reshape(len(rows), n_features),
    )
