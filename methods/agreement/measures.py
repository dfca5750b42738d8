"""Measures of inter-annotator agreement by name, for labels and scores, with their intervals."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from methods.agreement.labels import (
    cohen_kappa,
    cohen_kappa_of_draws,
    fleiss_kappa,
    krippendorff_alpha,
    raw_agreement,
    raw_agreement_of_draws,
)
from methods.agreement.rating_matrix import N_RESAMPLES, Measure, MeasureOfDraws, Ratings, interval
from methods.agreement.scores import (
    fuzzy_accuracy,
    kendall,
    mean_absolute_error,
    pearson,
    quadratic_kappa,
    spearman,
    strict_accuracy,
)

LABELS_OF_PAIR: Mapping[str, Measure] = {"raw": raw_agreement, "cohen_kappa": cohen_kappa}
LABELS_OF_ALL: Mapping[str, Measure] = {
    "raw": raw_agreement,
    "fleiss_kappa": fleiss_kappa,
    "krippendorff_nominal": partial(krippendorff_alpha, level="nominal"),
}
SCORES_OF_PAIR: Mapping[str, Measure] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "mae": mean_absolute_error,
}
TEN_POINTS: Mapping[str, Measure] = {
    "fuzzy_accuracy": fuzzy_accuracy,
    "strict_accuracy": strict_accuracy,
    "quadratic_kappa": quadratic_kappa,
}
"""Further measures for scores from 1 to 10, in addition to `SCORES_OF_PAIR`."""
SCORES_OF_ALL: Mapping[str, Measure] = {
    "raw": raw_agreement,
    "krippendorff_ordinal": partial(krippendorff_alpha, level="ordinal"),
}
OF_DRAWS: Mapping[str, MeasureOfDraws] = {
    "raw": raw_agreement_of_draws,
    "cohen_kappa": cohen_kappa_of_draws,
}
"""Measures for all bootstrap draws at once, as a call for each draw would be too slow."""


def measured_rows(
    measures: Mapping[str, Measure],
    matrix: Ratings,
    clusters: Sequence[str],
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> list[dict[str, Any]]:
    """Compute every measure of one matrix of ratings, each with a 95 % interval.

    Args:
        measures: The measures by name.
        matrix: Items x raters, NaN for no rating.
        clusters: The name of the cluster of each item.
        seed: The seed of the bootstrap over clusters.
        n_resamples: The number of bootstrap draws.

    Returns:
        A row for each measure: measure, n_items, value, low, high and reason. `reason` says why there
        is no value.
    """
    rows = []
    for name, measure in measures.items():
        measured = measure(matrix)
        bounds = interval(
            measure,
            matrix,
            clusters,
            seed=seed,
            n_resamples=n_resamples,
            of_draws=OF_DRAWS.get(name),
        )
        low, high = bounds or (None, None)
        rows.append(
            {
                "measure": name,
                "n_items": len(matrix),
                "value": measured.value,
                "low": low,
                "high": high,
                "reason": measured.reason,
            }
        )
    return rows
