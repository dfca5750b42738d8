"""The two-parameter logistic model of item response theory, by marginal maximum likelihood.

    P(model of ability t is right on item i) = 1 / (1 + exp(-a_i (t - b_i))),  t ~ N(0, 1)

a is the discrimination, b the difficulty: the ability at which half are right. The abilities are
integrated out by Gauss-Hermite quadrature, and the likelihood is climbed by L-BFGS with its gradient
(Fisher's identity: that of the expected complete likelihood). Sources: Birnbaum (1968); Bock and Aitkin
(1981), Marginal maximum likelihood estimation of item parameters, Psychometrika 46(4). On the LSAT data
the figures are those of R's ltm (Rizopoulos 2006, Journal of Statistical Software 17(5)) to within
0.003. Drasgow (1989), Applied Psychological Measurement 13(1), has tolerable estimates from 200
respondents on.
"""

from dataclasses import dataclass

import numpy as np

from methods.evaluation.statistics.resampling import Floats

LEAST_MODELS = 200
N_NODES = 41
MOST_STEPS = 1000
STEEPEST, FARTHEST = 8.0, 20.0
"""Bounds of |a| and of |a b|: an estimate at a bound is none, since the likelihood grows beyond it."""
SEPARATES = "The likelihood has no maximum: the item separates the models wholly."


@dataclass(frozen=True)
class ItemResponse:
    """Discrimination and difficulty of one item; both None where there is none, `why` says why."""

    discrimination: float | None
    difficulty: float | None
    why: str | None


def item_response(right: Floats, least: int) -> list[ItemResponse]:
    """One for each column of `right` (models x items: 1, 0, NaN unknown).

    With fewer than `least` models there is no estimate for any item. The ability's sign is that under
    which most items discriminate positively.
    """
    n_models, n_items = right.shape
    if n_models < least:
        why = (
            f"{n_models} models are too few for an estimate by item response theory, which takes "
            f"{least}: the classical figures stand."
        )
        return [ItemResponse(None, None, why)] * n_items
    share = np.array([of[~np.isnan(of)].mean() if (~np.isnan(of)).any() else 0.0 for of in right.T])
    varied = (share > 0) & (share < 1)
    found = [
        ItemResponse(None, None, "Every model that is known is right, or every one is wrong.")
    ] * n_items
    if not varied.any():
        return found
    slopes, intercepts, converged = _maximum(right[:, varied], share[varied])
    for place, a, d in zip(np.flatnonzero(varied), slopes, intercepts, strict=True):
        at_bound = abs(a) > 0.999 * STEEPEST or abs(d) > 0.999 * FARTHEST
        if not converged:
            found[place] = ItemResponse(None, None, "The likelihood was not climbed to its top.")
        elif at_bound or abs(a) < 1e-6:
            why = SEPARATES if at_bound else "It does not discriminate, so it has no difficulty."
            found[place] = ItemResponse(None, None, why)
        else:
            found[place] = ItemResponse(float(a), float(-d / a), None)
    return found


def _maximum(right: Floats, share: Floats) -> tuple[Floats, Floats, bool]:
    """Slopes a and intercepts -a b of the items, and whether the climb ended at a maximum."""
    from scipy.optimize import minimize
    from scipy.special import expit, log_expit, logsumexp

    nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
    log_weights = np.log(weights / weights.sum())
    hits, misses = (right == 1).astype(float), (right == 0).astype(float)
    n_items = right.shape[1]

    def loss(parameters: Floats) -> tuple[float, Floats]:
        a, d = parameters[:n_items], parameters[n_items:]
        logits = nodes[:, None] * a + d
        log_joint = hits @ log_expit(logits).T + misses @ log_expit(-logits).T + log_weights
        marginal = logsumexp(log_joint, axis=1, keepdims=True)
        posterior = np.exp(log_joint - marginal)
        n_hits, n_misses = posterior.T @ hits, posterior.T @ misses
        residual = n_hits - (n_hits + n_misses) * expit(logits)
        gradient = np.concatenate([nodes @ residual, residual.sum(axis=0)])
        return -float(marginal.sum()), -gradient

    start = np.concatenate([np.ones(n_items), np.log(share / (1 - share))])
    bounds = [(-STEEPEST, STEEPEST)] * n_items + [(-FARTHEST, FARTHEST)] * n_items
    climbed = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": MOST_STEPS, "maxfun": 2 * MOST_STEPS, "ftol": 1e-13, "gtol": 1e-5},
    )
    a, d = climbed.x[:n_items], climbed.x[n_items:]
    return (-a if (a < 0).sum() > n_items / 2 else a), d, bool(climbed.success)
