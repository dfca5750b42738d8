"""Bradley-Terry (Elo-like) ratings of models from battles, with bootstrap confidence intervals and
intervals of ranks.

Each bootstrap resample draws clusters of items with all their battles (both orders of a pair, all pairs
on an item), so intervals show the uncertainty over items. Two models i and j are compared by

    T = (t_i - t_j) / s,   s: standard deviation of the difference over the resamples
    p: two-sided, Student's t with C - 1 degrees of freedom, but at least 2^(1 - C)

where C is the smaller of the two models' numbers of clusters. The bound is the p value of a sign test
on C clusters: if all clusters agree, resamples do not vary (s = 0), but few clusters still prove
little. Ranks follow from the Holm-adjusted p values of all pairs (`statistics/ranks.py`). Models that
no chain of battles connects are in different parts, and only models of one part are ranked together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.statistics.bootstrap import (
    Floats,
    cluster_totals,
    percentile_estimates,
    resampled_sums,
)
from methods.evaluation.statistics.comparisons import Comparison, holm
from methods.evaluation.statistics.estimates import Estimate
from methods.evaluation.statistics.intervals import score_estimates
from methods.evaluation.statistics.ranks import Rank, rank_models
from methods.pairwise.battles import TIE, Battles
from methods.pairwise.bradley_terry import Truths, fit, is_finite, parts, to_points

NO_BATTLES = "It has no battle that was judged."


Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class ModelRating:
    """The rating and interval of a model, and its rank among the models of its part.

    Attributes:
        part: The number, from 0, of the group of models that chains of battles connect.
        n: The number of battles.
        n_clusters: The number of clusters of items with battles.
        win_share: The share of battles that the model won, a tie counted half, 0 to 1.
        tie_share: The share of ties, 0 to 1.
        smoothed: Whether half a win was added in each direction to all pairs of its part.
    """

    model: str
    rating: Estimate
    rank: Rank
    part: int
    n: int
    n_clusters: int
    win_share: float | None
    tie_share: float | None
    smoothed: bool


@dataclass(frozen=True)
class Ratings:
    """Ratings in the order of the battles' models, and comparisons of all pairs within a part."""

    ratings: Sequence[ModelRating]
    comparisons: Sequence[Comparison]


def rate(battles: Battles, *, seed: int, n_resamples: int) -> Ratings:
    """Estimate the Bradley-Terry ratings of all models, with intervals over clusters.

    The cost is resamples x clusters x models^2 for the draws and resamples x models^3 for the fits.

    Args:
        battles: The battles. A model without a battle has no rating and is a separate part.
        seed: The seed of the bootstrap over clusters.
        n_resamples: The number of bootstrap draws.

    Returns:
        Ratings, ranks and the comparisons of all pairs of a part.
    """
    k = len(battles.models)
    compared = battles.wins() > 0
    compared |= compared.T
    part_of = parts(compared)
    points = np.full(k, np.nan)
    resampled = np.full((k, n_resamples), np.nan)
    finite = np.ones(k, dtype=bool)
    for part in np.unique(part_of):
        members = np.flatnonzero(part_of == part).astype(np.int64)
        if len(members) < 2:
            continue
        of_part = battles.where(np.isin(battles.first, members))
        within = np.ix_(members, members)
        wins, compared_within = of_part.wins()[within], compared[within]
        finite[members] = is_finite(wins[None])[0]
        points[members] = to_points(fit(wins[None], compared_within))[0]
        resampled[members] = _resampled(of_part, members, compared_within, seed, n_resamples)
    fought = _clusters_of(battles)
    estimates = percentile_estimates(points, resampled.copy(), fought)
    comparisons = compare(points, resampled, fought, part_of)
    ranks = _ranks(points, comparisons, part_of)
    return Ratings(
        [
            _rating(
                battles,
                place,
                rating=estimates[place],
                rank=ranks[place],
                part=int(part_of[place]),
                n_clusters=int(fought[place]),
                smoothed=not finite[place],
            )
            for place in range(k)
        ],
        comparisons,
    )


def _rating(battles: Battles, place: int, **fields: Any) -> ModelRating:
    """The rating of a model, with the shares of its wins (a tie half) and of its ties."""
    own = (battles.first == place) | (battles.second == place)
    n = int(own.sum())
    if not n:
        return ModelRating(battles.models[place], n=0, win_share=None, tie_share=None, **fields)
    outcomes = battles.outcomes[own]
    won = np.where(battles.first[own] == place, outcomes, 1 - outcomes)
    return ModelRating(
        battles.models[place],
        n=n,
        win_share=float(won.mean()),
        tie_share=float((outcomes == TIE).mean()),
        **fields,
    )


def _resampled(
    battles: Battles, members: Numbers, compared: Truths, seed: int, n_resamples: int
) -> Floats:
    """Ratings of the members in each bootstrap resample of clusters, shape (members, resamples)."""
    k = len(battles.models)
    sums = battles.wins_by_cluster()
    resampled_counts = resampled_sums(sums, seed=seed, n_resamples=n_resamples).T.reshape(-1, k, k)
    wins = resampled_counts[:, members[:, None], members]
    return to_points(fit(wins, compared)).T


def compare(
    points: Floats, resampled_points: Floats, n_clusters: Numbers, part_of: Numbers
) -> list[Comparison]:
    """Compare every two models of one part: difference in points, interval, p and Holm-adjusted p.

    Args:
        points: The ratings, shape (models,).
        resampled_points: The resampled ratings, shape (models, resamples).
        n_clusters: The number of clusters of each model.
        part_of: The part of each model.

    Returns:
        The comparisons.
    """
    from scipy.stats import t as student

    pairs = [
        pair for pair in combinations(range(len(points)), 2) if part_of[pair[0]] == part_of[pair[1]]
    ]
    if not pairs:
        return []
    first, second = np.array(pairs).T
    differences = points[first] - points[second]
    resampled = resampled_points[first] - resampled_points[second]
    spread = resampled.std(axis=1, ddof=1)
    least = np.minimum(n_clusters[first], n_clusters[second])
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(differences == 0, 0.0, np.abs(differences) / spread)
    p_values = np.maximum(2 * student.sf(size, np.maximum(least - 1, 1)), 2.0 ** (1 - least))
    adjusted = holm([float(p) for p in p_values])
    estimates = percentile_estimates(differences, resampled, least)
    return [
        Comparison(i, j, gap.value, gap.ci_low, gap.ci_high, float(p), p_holm, int(n), int(n))
        for (i, j), gap, p, p_holm, n in zip(
            pairs, estimates, p_values, adjusted, least, strict=True
        )
    ]


def _ranks(points: Floats, comparisons: Sequence[Comparison], part_of: Numbers) -> list[Rank]:
    ranks = [Rank(None, None, None)] * len(points)
    for part in np.unique(part_of):
        scores = [
            float(value) if own_part == part and not np.isnan(value) else None
            for value, own_part in zip(points, part_of, strict=True)
        ]
        ranked = rank_models(scores, comparisons, higher_is_better=True)
        for place, score in enumerate(scores):
            if score is not None:
                ranks[place] = ranked[place]
    return ranks


def _clusters_of(battles: Battles) -> Numbers:
    """The number of clusters with a battle of each model."""
    k = len(battles.models)
    fought = np.zeros((k, battles.n_clusters), dtype=bool)
    fought[battles.first, battles.clusters] = True
    fought[battles.second, battles.clusters] = True
    return np.asarray(fought.sum(axis=1), dtype=np.int64)


def first_place(battles: Battles) -> Estimate:
    """Estimate position bias: how often the answer shown first won (a tie half), with an interval.

    If each pair is asked in both orders, a judge without position bias has 0.5.
    """
    totals = cluster_totals(battles.outcomes[None], battles.clusters)
    (estimate,) = score_estimates(totals, np.zeros(1), np.ones(1))
    return estimate
