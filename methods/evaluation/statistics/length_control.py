"""Length bias of a judge: correlation of length and score, and scores at an equal answer length.

    s_mu = a_m + b (x_mu - x),    s_mu, x_mu: score and ln(length) of model m's answer to unit u,
    x: mean of all x_mu

a_m, model m's effect at the mean log length, is its length-controlled score; b is the points that an
answer gains for each unit of log length (b ln 2 for a doubling). Least squares with an effect for each
model estimates b within models only, so that a better model that writes more does not count as bias:

    b = sum_mu (x_mu - x_m)(s_mu - s_m) / sum_mu (x_mu - x_m)^2,    a_m = s_m - b (x_m - x)

with x_m and s_m the means of model m. Source: Dubois, Galambosi, Liang and Hashimoto (2024),
Length-Controlled AlpacaEval, simplified: theirs is a logistic regression of preferences on model, tanh
of the standardized difference of lengths and difficulty of the instruction, this one is linear in
scores of single answers and log length, without a term for difficulty. An easy unit, which makes both
answers longer and scores higher, therefore counts as an effect of length.
"""

from dataclasses import dataclass

import numpy as np

from methods.agreement.rating_matrix import MeasureValue
from methods.agreement.scores import spearman
from methods.evaluation.statistics.bootstrap import (
    N_RESAMPLES,
    Clusters,
    Floats,
    cluster_totals,
    percentile_estimates,
    ratio,
    resampled_sums,
)
from methods.evaluation.statistics.estimates import Estimate

EQUALLY_LONG = "The answers of each model are all equally long."
NO_SCORES = "No answer has both a score and a length."
ALL_THE_SAME = "The scores are all the same, or the lengths are."


@dataclass(frozen=True)
class LengthControl:
    """Length-controlled scores, one row per model; `reason` says why there are none."""

    scores: list[Estimate]
    slope: Estimate
    """b: points for each unit of natural log length."""
    reason: str | None = None


def length_correlation(scores: Floats, lengths: Floats) -> MeasureValue:
    """Compute Spearman's rho of score and length over all answers.

    Args:
        scores: Scores of any shape, NaN for none.
        lengths: The length of each answer, in the same shape, NaN for none.

    Returns:
        Rho, -1 to 1; or None with the reason, if there are no pairs or all values are the same.
    """
    pairs = np.stack([scores.ravel(), lengths.ravel()], axis=1)
    both = pairs[~np.isnan(pairs).any(axis=1)]
    if not len(both):
        return MeasureValue(None, NO_SCORES)
    if not np.ptp(both, axis=0).all():
        return MeasureValue(None, ALL_THE_SAME)
    return spearman(both)


def length_controlled_scores(
    scores: Floats,
    lengths: Floats,
    clusters: Clusters,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> LengthControl:
    """Estimate the score of each model at the mean log length, with 95 % intervals over clusters.

    Only answers with a score and a length count. Every resample uses the mean length of all data.

    Args:
        scores: Models x units, NaN for none.
        lengths: Words, tokens or characters, models x units, NaN for none.
        clusters: The cluster of each unit.
        seed: The seed of the bootstrap.
        n_resamples: The number of bootstrap draws.

    Returns:
        The scores and the slope; or the reason why there are no scores.

    Raises:
        ValueError: A length is not above 0.
    """
    used = ~np.isnan(scores) & ~np.isnan(lengths)
    nothing = Estimate(None, None, None)
    if not used.any():
        return LengthControl([nothing] * len(scores), nothing, NO_SCORES)
    if (lengths[used] <= 0).any():
        raise ValueError("A length must be above 0: an empty answer has no score to control.")
    x = np.where(used, np.log(np.where(used, lengths, 1)), np.nan)
    x -= x[used].mean()
    s = np.where(used, scores, np.nan)
    # Sums by cluster, 5 x models x clusters: number, x, s, x^2, x s.
    products = [cluster_totals(values, clusters) for values in (x, s, x * x, x * s)]
    sums = np.stack([products[0].sizes, *(product.sums for product in products)])
    slope, effects = _fit(sums.sum(axis=2)[..., None])
    if np.isnan(slope[0]):
        return LengthControl([nothing] * len(scores), nothing, EQUALLY_LONG)
    n_clusters = products[0].n_clusters
    resampled_totals = resampled_sums(
        sums.reshape(-1, sums.shape[2]), seed=seed, n_resamples=n_resamples
    )
    slopes, resampled = _fit(resampled_totals.reshape(5, len(scores), n_resamples))
    n_all = np.array([(products[0].sizes.sum(axis=0) > 0).sum()])
    return LengthControl(
        percentile_estimates(effects[:, 0], resampled, n_clusters),
        percentile_estimates(slope, slopes[None], n_all)[0],
    )


def _fit(sums: Floats) -> tuple[Floats, Floats]:
    """Fit the slope (fits) and the effect of each model (models x fits) to sums, 5 x models x fits.

    NaN for a model without answers; all are NaN if lengths do not differ within any model.
    """
    n, x, s, xx, xs = sums
    mean_x, mean_s = ratio(x, n), ratio(s, n)
    within = np.nansum(xx - x * mean_x, axis=0)
    # For equal lengths only the rounding error of their sums is left.
    within[within <= 1e-12 * np.maximum(1, xx.sum(axis=0))] = 0
    slope = ratio(np.nansum(xs - x * mean_s, axis=0), within)
    return slope, mean_s - slope * mean_x
