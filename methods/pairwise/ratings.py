"""Ratings of models from battles: Bradley-Terry, with intervals over items and intervals of ranks.

A resample draws clusters of items with all their battles (both orders of a pair, all pairs on an item),
so that the interval is that of other items of the kind. Two models differ by

    t = (t_i - t_j) / s,   s: standard deviation of the difference over the resamples
    p: two-sided, Student's t with C - 1 degrees of freedom, and never below 2^(1 - C)

C: the clusters of the one of the two that fought on fewer. The bound is that of a sign test on C
clusters: where all agree, nothing varies between resamples, and few clusters still prove little. Ranks
follow from all pairs after Holm (`statistics/ranks.py`), within a part: models that no chain of battles
connects have no order.
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
    """One model: its rating with its interval, and its rank among the models of its part.

    `smoothed`: half a win was added to every pair of its part. `part` numbers what battles connect,
    from 0. `win_share` is of all its battles, a tie half; `tie_share` of these the ties.
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
    """Ratings in the order of the battles' models, and every two of one part compared, in points."""

    ratings: Sequence[ModelRating]
    comparisons: Sequence[Comparison]

    @property
    def n_parts(self) -> int:
        """How many parts there are among the models that fought."""
        return len({rating.part for rating in self.ratings if rating.n})


def rate(battles: Battles, *, seed: int, n_resamples: int, alpha: float = 0.05) -> Ratings:
    """Estimate the Bradley-Terry ratings of all models, with intervals over clusters.

    The cost is resamples x clusters x models^2 for the draws and resamples x models^3 for the fits.

    Args:
        battles: The battles. A model without a battle has no rating and is a part of its own.
        seed: The seed of the bootstrap over clusters.
        n_resamples: The number of bootstrap draws.
        alpha: The level of the tests by which models are ranked.

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
    ranks = _ranks(points, comparisons, part_of, alpha)
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
    """The rating of a model with the share of its wins, a tie half, and of its ties, by weight."""
    own = (battles.first == place) | (battles.second == place)
    n = int(own.sum())
    if not n:
        return ModelRating(battles.models[place], n=0, win_share=None, tie_share=None, **fields)
    weights, outcomes = battles.weights[own], battles.outcomes[own]
    won = np.where(battles.first[own] == place, outcomes, 1 - outcomes)
    return ModelRating(
        battles.models[place],
        n=n,
        win_share=float(np.average(won, weights=weights)),
        tie_share=float(np.average(outcomes == TIE, weights=weights)),
        **fields,
    )


def _resampled(
    battles: Battles, members: Numbers, compared: Truths, seed: int, n_resamples: int
) -> Floats:
    """Points of the members in each resample of the battles' clusters: members x resamples."""
    k = len(battles.models)
    sums = battles.wins_by_cluster()
    resampled_counts = resampled_sums(sums, seed=seed, n_resamples=n_resamples).T.reshape(-1, k, k)
    wins = resampled_counts[:, members[:, None], members]
    return to_points(fit(wins, compared)).T


def compare(
    points: Floats, resampled_points: Floats, n_clusters: Numbers, part_of: Numbers
) -> list[Comparison]:
    """Compare every two models of one part: difference in points, interval, p, and p after Holm.

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


def _ranks(
    points: Floats, comparisons: Sequence[Comparison], part_of: Numbers, alpha: float
) -> list[Rank]:
    ranks = [Rank(None, None, None)] * len(points)
    for part in np.unique(part_of):
        scores = [
            float(value) if own_part == part and not np.isnan(value) else None
            for value, own_part in zip(points, part_of, strict=True)
        ]
        ranked = rank_models(scores, comparisons, higher_is_better=True, alpha=alpha)
        for place, score in enumerate(scores):
            if score is not None:
                ranks[place] = ranked[place]
    return ranks


def _clusters_of(battles: Battles) -> Numbers:
    """On how many clusters each model fought."""
    k = len(battles.models)
    fought = np.zeros((k, battles.n_clusters), dtype=bool)
    fought[battles.first, battles.clusters] = True
    fought[battles.second, battles.clusters] = True
    return np.asarray(fought.sum(axis=1), dtype=np.int64)


def first_place(battles: Battles) -> Estimate:
    """How often the first of two answers won, a tie half, with its interval over clusters.

    Where each pair is asked in both orders a judge without a preference for a place has 0.5, whoever
    fought.
    """
    totals = cluster_totals(battles.outcomes[None], battles.clusters)
    (estimate,) = score_estimates(totals, np.zeros(1), np.ones(1))
    return estimate
