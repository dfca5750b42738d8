"""Cohen's kappa: agreement of two raters on labels, beyond what their habits alone would give.

    kappa = (p_o - p_e) / (1 - p_e),    p_e = sum_c p_ac p_bc

p_o is the share of items with the same label, p_ac how often rater a gave label c. 1: they always
agree; 0: no more than by chance. Source: Cohen (1960), A coefficient of agreement for nominal scales.
"""

import numpy as np

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, pair_of


def cohen_kappa(ratings: Ratings) -> Measured:
    """Kappa of two raters over the items both rated. Raises ValueError unless there are two."""
    first, second = pair_of(ratings)
    if not len(first):
        return Measured(None, NOBODY_TWICE)
    labels = np.union1d(first, second)
    # With one label, chance alone agrees always and there is no beyond.
    if len(labels) == 1:
        return Measured(None, "Both gave every item the same one label.")
    observed = (first == second).mean()
    expected = sum((first == label).mean() * (second == label).mean() for label in labels)
    return Measured(float((observed - expected) / (1 - expected)))
