"""Ratings at equal length and style: how an answer is written, beside who wrote it, as the arenas do.

    logit P(first preferred) = t_i - t_j + sum_f g_f z_f,    z_f = (x_f - mean x_f) / sd x_f
    x_f = (a_f - b_f) / (a_f + b_f + 1)                      a_f, b_f: the feature of both answers

Features are words and the Markdown of an answer: headers, items of lists, bold passages. t is what
models would have if all wrote equally long and alike; g is how much a judge is drawn by a feature,
in logits for one standard deviation of its difference. Each g has a normal prior of mean 0 and standard
deviation 1, so that a feature that goes with every win leaves a finite coefficient; beside hundreds of
battles the prior weighs little. What a better model writes more of cannot be told from what makes it
better where models differ more than their answers do: the coefficient is no proof of a cause.

Sources: Li, Angelopoulos and Chiang (2024), Does style matter? Disentangling style and substance in
Chatbot Arena (LMSYS blog), with words in place of a model's tokens; on the same features the figures
are those of arena-rank's `ContextualBradleyTerry`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from methods.evaluation.statistics.bootstrap import Floats, percentile_estimates
from methods.evaluation.statistics.estimates import Estimate
from methods.pairwise.battles import Battles
from methods.pairwise.bradley_terry import HALF_A_WIN, Truths, is_finite, parts, to_points
from methods.words import n_words

FEATURES = ("words", "headers", "lists", "bold")
PRIOR = 1.0
"""Weight of the prior: 1 / its variance."""
NO_VARIANCE = "No two compared answers differ in it."
NO_BATTLES = "No two answers were judged."
IN_PARTS = "Models that no battles connect are not rated together."
_HEADER = re.compile(r"^ {0,3}#{1,6}\s+\S", re.MULTILINE)
_LIST = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])\s+\S", re.MULTILINE)
_BOLD = re.compile(r"(\*\*|__)(?=\S)[^\n]+?(?<=\S)\1")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Coefficient:
    """How a feature moves a judge, in logits a standard deviation; `reason` says why it is None."""

    feature: str
    estimate: Estimate
    reason: str | None = None


@dataclass(frozen=True)
class StyleControlledRatings:
    """Ratings at equal style in the order of the battles' models; `reason` says why there are none."""

    ratings: Sequence[Estimate]
    coefficients: Sequence[Coefficient]
    reason: str | None = None


def features(text: str) -> tuple[float, ...]:
    """Words, headers, items of lists and bold passages of an answer; code in fences has words alone."""
    prose = _FENCE.sub("", text)
    patterns = (_HEADER, _LIST, _BOLD)
    return (float(n_words(text)), *(float(len(pattern.findall(prose))) for pattern in patterns))


def style_difference(first: str, second: str) -> tuple[float, ...]:
    """Compute the normalised difference of two answers in each style feature: (a - b) / (a + b + 1).

    Args:
        first: The first answer.
        second: The second answer.

    Returns:
        A number from -1 to 1 for each feature of `features`.
    """
    pairs = zip(features(first), features(second), strict=True)
    return tuple((a - b) / (a + b + 1) for a, b in pairs)


def rate_controlled(
    battles: Battles,
    names: Sequence[str],
    *,
    seed: int,
    n_resamples: int,
    prior: float = PRIOR,
) -> StyleControlledRatings:
    """Estimate ratings at equal style and coefficients of style, with 95 % intervals over clusters.

    The means and deviations of features are those of the data in every resample. The cost is resamples
    x battles.

    Args:
        battles: The battles with their differences of style. A model without a battle has no rating.
        names: The names of the features, in the order of the columns of `battles.style`.
        seed: The seed of the bootstrap.
        n_resamples: The number of bootstrap draws.
        prior: The strength of the regularization of the regression.

    Returns:
        Ratings and coefficients; or the reason why there are none.
    """
    nothing = Estimate(None, None, None)
    fought = np.union1d(battles.first, battles.second)
    if len(fought) < len(battles.models):
        own_battles = replace(
            battles,
            models=[battles.models[place] for place in fought],
            first=np.searchsorted(fought, battles.first),
            second=np.searchsorted(fought, battles.second),
        )
        controlled = rate_controlled(
            own_battles, names, seed=seed, n_resamples=n_resamples, prior=prior
        )
        rated = dict(zip(own_battles.models, controlled.ratings, strict=True))
        return replace(controlled, ratings=[rated.get(model, nothing) for model in battles.models])
    compared = battles.wins() > 0
    compared |= compared.T
    if not len(fought) or len(np.unique(parts(compared))) > 1:
        return StyleControlledRatings(
            [nothing] * len(fought), [], IN_PARTS if len(fought) else NO_BATTLES
        )
    deviation = battles.style.std(axis=0)
    varied = deviation > 1e-12
    z = ((battles.style - battles.style.mean(axis=0)) / np.where(varied, deviation, 1))[:, varied]
    start = np.zeros(len(battles.models) + z.shape[1])
    estimated = _fit(battles, z, battles.weights, compared, prior, start)
    generator = np.random.default_rng(seed)
    resampled = np.empty((len(estimated), n_resamples))
    n = battles.n_clusters
    for column in range(n_resamples):
        counts = np.bincount(generator.integers(0, n, n), minlength=n)
        weights = battles.weights * counts[battles.clusters]
        resampled[:, column] = _fit(battles, z, weights, compared, prior, estimated)
    k = len(battles.models)
    estimated[:k], resampled[:k] = to_points(estimated[:k]), to_points(resampled[:k])
    estimates = percentile_estimates(estimated, resampled, np.full(len(estimated), n))
    of_features = iter(estimates[k:])
    return StyleControlledRatings(
        estimates[:k],
        [
            Coefficient(name, next(of_features)) if has else Coefficient(name, nothing, NO_VARIANCE)
            for name, has in zip(names, varied, strict=True)
        ],
    )


def _fit(
    battles: Battles, z: Floats, weights: Floats, compared: Truths, prior: float, start: Floats
) -> Floats:
    """Log strengths (mean 0) and coefficients that maximise the likelihood with the prior."""
    from scipy.optimize import minimize
    from scipy.special import expit, log_expit

    k = len(battles.models)
    first, second, outcomes = battles.first, battles.second, battles.outcomes
    is_weighted = weights > 0
    wins = np.zeros((k, k))
    np.add.at(wins, (first[is_weighted], second[is_weighted]), (weights * outcomes)[is_weighted])
    np.add.at(
        wins, (second[is_weighted], first[is_weighted]), (weights * (1 - outcomes))[is_weighted]
    )
    if not is_finite(wins[None])[0]:
        # A tie of the weight 1 with no difference in style is half a win each way.
        i, j = np.nonzero(np.triu(compared))
        first, second = np.concatenate([first, i]), np.concatenate([second, j])
        outcomes = np.concatenate([outcomes, np.full(len(i), HALF_A_WIN)])
        weights = np.concatenate([weights, np.full(len(i), 2 * HALF_A_WIN)])
        z = np.concatenate([z, np.zeros((len(i), z.shape[1]))])
    total = weights.sum()

    def loss(parameters: Floats) -> tuple[float, Floats]:
        strengths, coefficients = parameters[:k], parameters[k:]
        logits = strengths[first] - strengths[second] + z @ coefficients
        value = -weights @ (outcomes * log_expit(logits) + (1 - outcomes) * log_expit(-logits))
        residual = weights * (expit(logits) - outcomes)
        gradient = np.concatenate(
            [
                np.bincount(first, residual, k) - np.bincount(second, residual, k),
                residual @ z + prior * coefficients,
            ]
        )
        value += 0.5 * prior * coefficients @ coefficients
        # Divided by the weight, so that the tolerances mean the same for any number of battles.
        return float(value / total), gradient / total

    coefficients = minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-8}
    ).x
    coefficients[:k] -= coefficients[:k].mean()
    return np.asarray(coefficients, dtype=float)
