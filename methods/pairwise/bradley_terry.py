"""Bradley-Terry ratings on the scale of Elo; a tie is half a win for each, as in the arenas.

    P(i is preferred to j) = 1 / (1 + exp(-(t_i - t_j))),    sum of all t = 0
    maximise  sum_ij w_ij ln P(i over j),                    w_ij: wins of i over j, a tie 0.5 + 0.5
    rating = 1000 + t 400 / ln 10

so that 400 points are odds of 10 to 1. The maximum is finite only where every split of the models in
two has a win in both directions (Ford 1957): the graph of wins is strongly connected. Where it is not,
as for a model that won every battle, half a win is added each way to every pair that was compared
(Haldane 1956, Anscombe 1956), in that fit alone; a rating so made is finite and says little about how
far ahead the model is. Models that no chain of battles connects cannot be compared at all.

Sources: Bradley and Terry (1952), Biometrika 39; Ford (1957), American Mathematical Monthly 64(8);
Chiang et al. (2024), Chatbot Arena, section 4. On the same battles the ratings are those of
arena-rank's `BradleyTerry` and evalica's.
"""

import math

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.statistics.bootstrap import Floats

SCALE, BASE, MEAN = 400.0, 10.0, 1000.0
HALF_A_WIN = 0.5
MOST_STEPS, LONGEST_STEP, SMALLEST_STEP = 200, 1.0, 1e-10
"""Newton's steps are cut where they would move two models farther apart than this, in logits, at once:
with it the likelihood of a logistic model rises in every step (Bach 2010, self-concordance)."""

Truths = NDArray[np.bool_]


def to_points(log_strengths: Floats) -> Floats:
    """Log strengths, which have the mean 0, as ratings."""
    return MEAN + log_strengths * SCALE / math.log(BASE)


def parts(compared: Truths) -> NDArray[np.int64]:
    """The part of each model: models of one part are connected by battles (models x models)."""
    # Importing scipy's graphs takes a tenth of a second.
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(compared, directed=False)
    return labels.astype(np.int64)


def is_finite(wins: Floats) -> Truths:
    """Whether each fit has a finite maximum; `wins` is fits x models x models."""
    reached = (wins > 0) | np.eye(wins.shape[-1], dtype=bool)
    for _ in range(max(1, math.ceil(math.log2(wins.shape[-1])))):
        counts = reached.astype(np.float32)
        reached = counts @ counts > 0
    return np.asarray(reached.all(axis=(1, 2)))


def smoothed(wins: Floats, compared: Truths) -> Floats:
    """Add half a win in each direction to fits without a finite maximum.

    Args:
        wins: Wins, shape (fits, models, models).
        compared: Which pairs were compared in the data, shape (models, models).

    Returns:
        The wins.
    """
    added = HALF_A_WIN * compared
    return wins + np.where(is_finite(wins)[:, None, None], 0.0, added)


def fit(wins: Floats, compared: Truths) -> Floats:
    """Fit Bradley-Terry models by Newton's method, all at once.

    scipy has no function for this. A fit of k models takes as long for 100,000 battles as for ten.

    Args:
        wins: Fits x models x models: how often the row's model beat the column's, a tie half.
        compared: Models x models: whether two models have a battle; all models are connected by them.

    Returns:
        Log strengths, fits x models, with the mean 0.
    """
    wins = smoothed(wins, compared)
    battles = wins + wins.transpose(0, 2, 1)
    n_fits, k, _ = wins.shape
    strengths = np.zeros((n_fits, k))
    for _ in range(MOST_STEPS):
        chance = 1 / (1 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
        gradient = (wins - battles * chance).sum(axis=2)
        curvature = battles * chance * (1 - chance)
        hessian = -curvature
        hessian[:, range(k), range(k)] += curvature.sum(axis=2)
        # The strengths have a free mean: 1/k in every cell holds it at 0.
        step = np.linalg.solve(hessian + 1 / k, gradient[:, :, None])[:, :, 0]
        longest = np.ptp(step, axis=1, keepdims=True)
        strengths += step * np.minimum(1, LONGEST_STEP / np.maximum(longest, SMALLEST_STEP))
        if longest.max(initial=0) < SMALLEST_STEP:
            break
    return strengths - strengths.mean(axis=1, keepdims=True)
