"""Bradley-Terry ratings on the Elo scale. A tie is half a win for each model, as in Chatbot Arena.

    P(i is preferred to j) = 1 / (1 + exp(-(t_i - t_j))),    sum of all t = 0
    maximise  sum_ij w_ij ln P(i over j)
    rating = 1000 + t 400 / ln 10

t_i is the log strength of model i, and w_ij the number of its wins over model j, a tie counted as 0.5.
A difference of 400 points means odds of 10 to 1. The maximum is only finite if the graph of wins is
strongly connected: however the models are divided into two groups, each group has a win over the other
(Ford 1957). If the graph is not, for example because one model won every battle, half a win in each
direction is added to every pair that was compared (Haldane 1956, Anscombe 1956). The rating is then
finite, but does not show how far ahead the model is. Models that no chain of battles connects cannot be
compared at all.

Sources: Bradley and Terry (1952), Biometrika 39; Ford (1957), American Mathematical Monthly 64(8);
Chiang et al. (2024), Chatbot Arena, section 4. On the same battles, arena-rank's `BradleyTerry` and
evalica give the same ratings.
"""

import math

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.statistics.bootstrap import Floats

SCALE, BASE, MEAN = 400.0, 10.0, 1000.0
HALF_A_WIN = 0.5
MOST_STEPS, LONGEST_STEP, SMALLEST_STEP = 200, 1.0, 1e-10
"""Newton's method: the most steps; the largest change of the difference of two models, in logits, in
one step; and the change at which it stops. With steps of at most 1 logit, the likelihood of a logistic
model rises in every step (Bach 2010, self-concordance)."""

Truths = NDArray[np.bool_]


def to_points(log_strengths: Floats) -> Floats:
    """Convert log strengths with the mean 0 to ratings on the Elo scale."""
    return MEAN + log_strengths * SCALE / math.log(BASE)


def parts(compared: Truths) -> NDArray[np.int64]:
    """Number the connected parts: models that a chain of battles connects have the same number.

    `compared` has the shape (models, models).
    """
    # Importing scipy's graphs takes a tenth of a second.
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(compared, directed=False)
    return labels.astype(np.int64)


def is_finite(wins: Floats) -> Truths:
    """Check whether each fit has a finite maximum; `wins` has the shape (fits, models, models)."""
    reached = (wins > 0) | np.eye(wins.shape[-1], dtype=bool)
    for _ in range(max(1, math.ceil(math.log2(wins.shape[-1])))):
        counts = reached.astype(np.float32)
        reached = counts @ counts > 0
    return np.asarray(reached.all(axis=(1, 2)))


def smoothed(wins: Floats, compared: Truths) -> Floats:
    """Add half a win in each direction to the compared pairs of fits without a finite maximum.

    Args:
        wins: Wins, shape (fits, models, models).
        compared: Which pairs were compared in the data, shape (models, models).

    Returns:
        The wins.
    """
    added = HALF_A_WIN * compared
    return wins + np.where(is_finite(wins)[:, None, None], 0.0, added)


def fit(wins: Floats, compared: Truths) -> Floats:
    """Fit many Bradley-Terry models at once by Newton's method. SciPy has no function for this.

    The time does not depend on the number of battles, only on the number of models and fits.

    Args:
        wins: How often the row's model beat the column's, a tie half, shape (fits, models, models).
        compared: Whether two models have a battle, shape (models, models). A chain of battles must
            connect all models.

    Returns:
        Log strengths with the mean 0, shape (fits, models).
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
        # The likelihood does not determine the mean strength. Adding 1/k to each cell fixes it at 0.
        step = np.linalg.solve(hessian + 1 / k, gradient[:, :, None])[:, :, 0]
        longest = np.ptp(step, axis=1, keepdims=True)
        strengths += step * np.minimum(1, LONGEST_STEP / np.maximum(longest, SMALLEST_STEP))
        if longest.max(initial=0) < SMALLEST_STEP:
            break
    return strengths - strengths.mean(axis=1, keepdims=True)
