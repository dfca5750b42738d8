"""Micro and macro means of turn scores, with intervals by a cluster bootstrap (MMDU, 2.3).

Turns of a dialogue share its images and history, so they are not independent: the bootstrap draws
whole dialogues. MMDU's text describes the macro mean, its released code computes the micro mean:

    micro = sum_d sum_t s_dt / sum_d n_d
    macro = (1/D) sum_d (1/n_d) sum_t s_dt
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Aggregation = Literal["micro", "macro"]
AGGREGATIONS: tuple[Aggregation, ...] = ("micro", "macro")


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % percentile interval; None for each where nothing was scored."""

    value: float | None
    ci_low: float | None
    ci_high: float | None


def clustered_mean(
    scores: Sequence[Sequence[float]],
    aggregation: Aggregation,
    *,
    seed: int,
    n_resamples: int = 10_000,
) -> Estimate:
    """Mean of `scores` (a list of turn scores for each dialogue) with a cluster bootstrap interval.

    Dialogues without a score carry nothing and are left out. With one dialogue there is nothing to
    resample: the interval is the value itself. The order of dialogues and turns changes nothing.
    Cost: `n_resamples` x dialogues multiply-adds.
    """
    # Sorted, because the seed draws dialogues by their place.
    scored = sorted((math.fsum(dialogue), len(dialogue)) for dialogue in scores if len(dialogue))
    if not scored:
        return Estimate(None, None, None)
    sums, sizes = np.array(scored, dtype=float).T
    if aggregation == "macro":
        sums, sizes = sums / sizes, np.ones_like(sizes)
    value = float(sums.sum() / sizes.sum())
    # A resample is the number of times each dialogue was drawn: multinomial weights.
    weights = np.random.default_rng(seed).multinomial(
        len(scored), np.full(len(scored), 1 / len(scored)), size=n_resamples
    )
    means = (weights @ sums) / (weights @ sizes)
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(value, min(float(low), value), max(float(high), value))
