"""Style control and length bias: Bradley-Terry ratings adjusted for the length and Markdown of answers,
as in Chatbot Arena.

    logit P(first preferred) = t_i - t_j + sum_f g_f z_f,    z_f = (x_f - mean x_f) / sd x_f
    x_f = (a_f - b_f) / (a_f + b_f + 1)

a_f and b_f are the values of feature f in the first and the second answer. Features are the numbers of
words, Markdown headers, list items and bold passages. t_i is the log strength that model i would have
if all answers had equal length and style. g_f is the influence of feature f on the judge, in logits per
standard deviation of x_f. Each g_f has a normal prior with mean 0 and standard deviation 1, so that its
estimate is finite even if the feature goes with every win. With hundreds of battles the prior has
little weight. A coefficient is no proof of a cause: if better models also write longer answers, the
effects of quality and of length cannot be separated.

Sources: Li, Angelopoulos and Chiang (2024), Does style matter? Disentangling style and substance in
Chatbot Arena (LMSYS blog), but with words instead of tokens. On the same features, arena-rank's
`ContextualBradleyTerry` gives the same values.
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
"""Weight of the prior, the inverse of its variance."""
NO_VARIANCE = "No two compared answers differ in it."
NO_BATTLES = "No two answers were judged."
IN_PARTS = "Models that no battles connect are not rated together."
_HEADER = re.compile(r"^ {0,3}#{1,6}\s+\S", re.MULTILINE)
_LIST = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])\s+\S", re.MULTILINE)
_BOLD = re.compile(r"(\*\*|__)(?=\S)[^\n]+?(?<=\S)\1")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Coefficient:
    """The influence of a style feature on the judge, in logits per standard deviation.

    If there is no estimate, `reason` says why.
    """

    feature: str
    estimate: Estimate
    reason: str | None = None


@dataclass(frozen=True)
class StyleControlledRatings:
    """Style-controlled ratings in the order of the battles' models, or the reason for none."""

    ratings: Sequence[Estimate]
    coefficients: Sequence[Coefficient]
    reason: str | None = None


def features(text: str) -> tuple[float, ...]:
    """Count words, headers, list items and bold passages of an answer; in code blocks only words."""
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
) -> StyleControlledRatings:
    """Estimate style-controlled ratings and style coefficients, with 95% intervals over clusters.

    Features are standardised once, by the original data, not in each resample. The cost is resamples
    x battles.

    Args:
        battles: The battles with their differences of style. A model without a battle has no rating.
        names: The names of the features, in the order of the columns of `battles.style`.
        seed: The seed of the bootstrap.
        n_resamples: The number of bootstrap draws.

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
        controlled = rate_controlled(own_battles, names, seed=seed, n_resamples=n_resamples)
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
    estimated = _fit(battles, z, np.ones(len(z)), compared, start)
    generator = np.random.default_rng(seed)
    resampled = np.empty((len(estimated), n_resamples))
    n = battles.n_clusters
    for column in range(n_resamples):
        counts = np.bincount(generator.integers(0, n, n), minlength=n)
        weights = counts[battles.clusters].astype(float)
        resampled[:, column] = _fit(battles, z, weights, compared, estimated)
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


def _fit(battles: Battles, z: Floats, weights: Floats, compared: Truths, start: Floats) -> Floats:
    """Fit log strengths (mean 0) and coefficients by maximum a posteriori (likelihood with prior)."""
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
        # A tie with weight 1 and no difference in style is half a win in each direction.
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
                residual @ z + PRIOR * coefficients,
            ]
        )
        value += 0.5 * PRIOR * coefficients @ coefficients
        # Divided by the total weight, so that tolerances do not depend on the number of battles.
        return float(value / total), gradient / total

    coefficients = minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-8}
    ).x
    coefficients[:k] -= coefficients[:k].mean()
    return np.asarray(coefficients, dtype=float)
