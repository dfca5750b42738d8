"""Distribution of a judge's scores, with its ceiling and floor rates.

    ceiling rate = share of scores at the highest value of the scale, floor rate: at the lowest

A judge that gives many answers the highest score cannot tell good models apart. Source: Terwee et al.
(2007), Quality criteria were proposed for measurement properties of health status questionnaires,
Journal of Clinical Epidemiology 60 (over 15 % at either end is called a ceiling or floor effect).
"""

from dataclasses import dataclass

import numpy as np

from methods.evaluation.statistics.bootstrap import Floats


@dataclass(frozen=True)
class ScoreDistribution:
    """Scores of one judge on one metric; None without scores (for the deviation: with one or none)."""

    n: int
    mean: float | None
    standard_deviation: float | None
    """The deviation of a sample, with n - 1."""
    ceiling_rate: float | None
    floor_rate: float | None


def score_distribution(scores: Floats, lowest: float, highest: float) -> ScoreDistribution:
    """Describe the distribution of scores on a scale.

    Args:
        scores: Scores of any shape, NaN for none.
        lowest: The lower end of the scale.
        highest: The upper end.

    Returns:
        Number, mean, standard deviation (n - 1) and the shares at both ends; None for
        figures that need more scores.
    """
    existing = scores[~np.isnan(scores)]
    if not len(existing):
        return ScoreDistribution(0, None, None, None, None)
    return ScoreDistribution(
        len(existing),
        float(existing.mean()),
        float(existing.std(ddof=1)) if len(existing) > 1 else None,
        float(np.mean(existing == highest)),
        float(np.mean(existing == lowest)),
    )
