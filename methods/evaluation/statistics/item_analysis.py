"""Classical item analysis: the difficulty of an item, and how well it tells models apart.

    difficulty       share of the models that are right
    discrimination   corrected item-total point-biserial correlation: Pearson's correlation, over the
                     models, of the item (0 or 1) and the model's share right of the other items

Sources: Lord and Novick (1968), Statistical Theories of Mental Test Scores, 15; Nunnally and Bernstein
(1994), Psychometric Theory, 8 (without the item itself, which would correlate with the total that it is
part of).
"""

from dataclasses import dataclass

import numpy as np

from methods.evaluation.statistics.bootstrap import Floats

NEGATIVE, EVERYONE_RIGHT, EVERYONE_WRONG = (
    "negative_discrimination",
    "everyone_right",
    "everyone_wrong",
)
_NOTHING = 1e-9
"""A smaller absolute value is the rounding error of 0."""


@dataclass(frozen=True)
class ItemStatistics:
    """The statistics of one item: the models with a known result, those that are right, difficulty,
    discrimination and remarks.

    `share_right` is None without a known result, `discrimination` is None if it cannot be computed;
    `why` says why.
    """

    n_models: int
    n_right: int
    share_right: float | None
    discrimination: float | None
    why: str | None
    flags: tuple[str, ...]


def item_statistics(right: Floats, least: int) -> list[ItemStatistics]:
    """Compute the difficulty and the discrimination of each item.

    Args:
        right: Models x items: 1 right, 0 wrong, NaN unknown.
        least: The fewest known results that an item needs to be flagged.

    Returns:
        The statistics of each item, in the order of the columns. An item with fewer known results has
        its figures and no flags.
    """
    n_models = (~np.isnan(right)).sum(axis=0)
    n_right = (right == 1).sum(axis=0)
    figures = zip(n_models, n_right, discriminations(right), strict=True)
    return [
        _statistics(int(n), int(k), float(discrimination), least)
        for n, k, discrimination in figures
    ]


def discriminations(right: Floats) -> Floats:
    """Compute the corrected item-total correlation of each column; NaN if it is undefined."""
    is_known = ~np.isnan(right)
    item = np.where(is_known, right, 0.0)
    others = is_known.sum(axis=1, keepdims=True) - is_known
    # A model without results on other items says nothing about this one.
    counts = is_known & (others > 0)
    rest = np.where(counts, (item.sum(axis=1, keepdims=True) - item) / np.maximum(others, 1), 0.0)
    n = np.maximum(counts.sum(axis=0), 1)
    from_item, from_rest = (
        np.where(counts, values - np.where(counts, values, 0.0).sum(axis=0) / n, 0.0)
        for values in (item, rest)
    )
    spread = np.sqrt((from_item**2).sum(axis=0) * (from_rest**2).sum(axis=0))
    shared = (from_item * from_rest).sum(axis=0)
    correlations: Floats = np.where(
        spread > _NOTHING, shared / np.maximum(spread, _NOTHING), np.nan
    )
    return correlations


def _statistics(n_models: int, n_right: int, of_item: float, least: int) -> ItemStatistics:
    share = n_right / n_models if n_models else None
    discrimination, why = None, None
    if not n_models:
        why = "No model has a known result."
    elif n_right in (0, n_models):
        why = f"Every model is {'right' if n_right else 'wrong'}, so it tells none from another."
    elif np.isnan(of_item):
        why = "All models are equally good on the other items."
    else:
        discrimination = of_item
    flags = []
    if n_models >= least:
        if share in (0, 1):
            flags.append(EVERYONE_RIGHT if share else EVERYONE_WRONG)
        if discrimination is not None and discrimination < -_NOTHING:
            flags.append(NEGATIVE)
    return ItemStatistics(n_models, n_right, share, discrimination, why, tuple(flags))
