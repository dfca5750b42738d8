"""Ranks of models with confidence intervals, from paired comparisons adjusted by Holm.

A model's rank is 1 + the number of models with a better score; equal scores share a rank (1, 2, 2, 4).
Its interval counts, among n models, those that are surely better and surely worse:

    [ 1 + #{significantly better},  n - #{significantly worse} ]

With p-values adjusted for all pairs, all intervals together contain all true ranks with a probability
of 1 - alpha or more. Percentiles of bootstrapped ranks do not: if models are truly equal, some are
still nearly always ahead of others in the data, and a resample repeats it. Sources: Mogstad, Romano,
Shaikh and Wilhelm (2024), Inference for Ranks, Review of Economic Studies 91(1) (simultaneous
confidence sets from tests of all pairs); Bazylik, Mogstad, Romano, Shaikh and Wilhelm, arXiv 2402.00192
(with Holm's procedure); Shaffer (1980), Control of directional errors with stagewise multiple test
procedures (two-sided tests read with their direction).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from methods.evaluation.statistics.comparisons import Comparison

ALPHA = 0.05
"""The level below which an adjusted p decides which of two models is better."""


@dataclass(frozen=True)
class Rank:
    """A model's rank, 1 the best, and its interval; None for a model without a score."""

    rank: int | None
    low: int | None
    high: int | None


def rank_models(
    scores: Sequence[float | None],
    comparisons: Sequence[Comparison],
    *,
    higher_is_better: bool,
) -> list[Rank]:
    """Rank the models that have a score, with an interval of ranks by the tests of all pairs.

    A pair without p leaves open which of the two is better. Take scores and differences on the same
    units (the form `floor` of scoring.py); if they contradict each other, the interval is widened to
    include the rank.

    Args:
        scores: The score of each model; None for none.
        comparisons: All pairs of these models, given by their index in `scores`, with p adjusted
            together.
        higher_is_better: Whether a higher score is better.

    Returns:
        The rank of each model, in the order of `scores`; a rank of None for a model without a score.
    """
    ranked = [place for place, score in enumerate(scores) if score is not None]
    better = dict.fromkeys(ranked, 0)
    worse = dict.fromkeys(ranked, 0)
    for comparison in comparisons:
        if comparison.first not in better or comparison.second not in better:
            continue
        if (
            comparison.difference is None
            or comparison.p_adjusted is None
            or comparison.p_adjusted > ALPHA
        ):
            continue
        first_is_better = (comparison.difference > 0) == higher_is_better
        winner, loser = (comparison.first, comparison.second)[:: 1 if first_is_better else -1]
        better[loser] += 1
        worse[winner] += 1
    ranks = [Rank(None, None, None)] * len(scores)
    for place in ranked:
        rank = 1 + sum(
            _is_better(scores[other], scores[place], higher_is_better) for other in ranked
        )
        low, high = 1 + better[place], len(ranked) - worse[place]
        ranks[place] = Rank(rank, min(low, rank), max(high, rank))
    return ranks


def _is_better(score: float | None, other: float | None, higher_is_better: bool) -> bool:
    """Whether a score is better, by more than the rounding of its sum."""
    if score is None or other is None or math.isclose(score, other, rel_tol=1e-9, abs_tol=1e-12):
        return False
    return (score > other) == higher_is_better
