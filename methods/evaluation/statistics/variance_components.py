"""Variance components of judges' scores: items, judges, replicates (generalizability theory).

Every judge scores every item several times. Item i, judge j, replicate r (Brennan's i x j design with
replications nested in its cells):

    y_ijr = mu + v_i + v_j + v_ij + e_ijr,    total variance = S_i + S_j + S_ij + S_e

    MS_i  = n_j n_r sum_i (y_i - y)^2 / (n_i - 1)          S_e  = MS_e
    MS_j  = n_i n_r sum_j (y_j - y)^2 / (n_j - 1)          S_ij = (MS_ij - MS_e) / n_r
    MS_ij = n_r sum_ij (y_ij - y_i - y_j + y)^2            S_i  = (MS_i - MS_ij) / (n_j n_r)
            / ((n_i - 1)(n_j - 1))                         S_j  = (MS_j - MS_ij) / (n_i n_r)
    MS_e  = sum_ijr (y_ijr - y_ij)^2 / (n_i n_j (n_r - 1))

A mean over an index lacks this index (y_i, y_ij, y); n_i, n_j and n_r are the numbers of items, judges
and replicates. S_i is the variance to be measured; S_j is large if some judges are stricter than
others, S_ij if judges put items in different orders, S_e if a judge contradicts itself. An estimate
below 0 is set to 0. Source: Brennan (2001), Generalizability Theory, chapter 3.
"""

from dataclasses import dataclass

import numpy as np

from methods.evaluation.statistics.bootstrap import Floats


@dataclass(frozen=True)
class VarianceComponents:
    """Variance components of scores, in squared points.

    `judge` and `interaction` (of item and judge) are None with one judge. With one replicate,
    `replicate` is None and its variance is part of `interaction`. `reason` says why there are none.
    """

    item: float | None
    judge: float | None
    interaction: float | None
    replicate: float | None
    n_items: int
    reason: str | None = None

    @property
    def shares(self) -> dict[str, float]:
        """The share of each component; empty if the total variance is 0."""
        names = ("item", "judge", "interaction", "replicate")
        components = {
            name: getattr(self, name) for name in names if getattr(self, name) is not None
        }
        total = sum(components.values())
        return {name: value / total for name, value in components.items()} if total else {}


def variance_components(scores: Floats) -> VarianceComponents:
    """Estimate the variance components of scores.

    Args:
        scores: Scores, shape (items, judges, replicates), NaN for a missing score. An item is any
            scored unit, such as a model's answer to a turn. Only complete items count.

    Returns:
        The components; `n_items` is the number of complete items.
    """
    complete = scores[~np.isnan(scores).any(axis=(1, 2))]
    n_i, n_j, n_r = complete.shape
    if n_i < 2:
        reason = "Fewer than two items have every score."
        return VarianceComponents(None, None, None, None, n_i, reason)
    if n_j < 2 and n_r < 2:
        reason = "One score an item: nothing tells items from noise."
        return VarianceComponents(None, None, None, None, n_i, reason)
    cells = complete.mean(axis=2)
    items, judges, mean = cells.mean(axis=1), cells.mean(axis=0), cells.mean()
    ms_item = n_j * n_r * ((items - mean) ** 2).sum() / (n_i - 1)
    ms_replicate, replicate = 0.0, None
    if n_r > 1:
        ms_replicate = ((complete - cells[..., None]) ** 2).sum() / (n_i * n_j * (n_r - 1))
        replicate = float(ms_replicate)
    if n_j < 2:
        item = max(0.0, float(ms_item - ms_replicate) / n_r)
        return VarianceComponents(item, None, None, replicate, n_i)
    ms_judge = n_i * n_r * ((judges - mean) ** 2).sum() / (n_j - 1)
    residuals = cells - items[:, None] - judges + mean
    ms_interaction = n_r * (residuals**2).sum() / ((n_i - 1) * (n_j - 1))
    return VarianceComponents(
        max(0.0, float(ms_item - ms_interaction) / (n_j * n_r)),
        max(0.0, float(ms_judge - ms_interaction) / (n_i * n_r)),
        max(0.0, float(ms_interaction - ms_replicate) / n_r),
        replicate,
        n_i,
    )


def replicate_variance(scores: Floats) -> float | None:
    """Compute the mean variance (n - 1) of a unit's replicates; `scores` are ... x replicates with NaN.

    The mean is over units with two replicates or more; None if there are no such units.
    """
    replicates = scores.reshape(-1, scores.shape[-1])
    twice = replicates[(~np.isnan(replicates)).sum(axis=1) >= 2]
    return float(np.nanvar(twice, axis=1, ddof=1).mean()) if len(twice) else None
