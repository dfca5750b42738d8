"""Paired comparison of every two models: difference, interval, test, Holm's adjustment.

Two models are compared on the units for which both have a value, d_u = a_u - b_u, so that the common
difficulty of a unit cancels out. Interval and p come from one paired t test (intervals.py): p is below
0.05 exactly if the 95 % interval excludes 0. Sources: intervals.py; Holm (1979), A simple sequentially
rejective multiple test procedure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from methods.evaluation.statistics.bootstrap import Clusters, Floats, PairTotals, cluster_totals
from methods.evaluation.statistics.intervals import difference_estimates, p_values

NO_COMMON_UNITS = "No unit has a value of both models."
ONE_CLUSTER = "All common units are of one cluster: nothing is known of others."


@dataclass(frozen=True)
class Comparison:
    """A comparison of two models, by their rows in `values`: the mean difference on common units and
    its test.

    `p_adjusted` is adjusted by Holm over all pairs. `reason` says why a field is None.
    """

    first: int
    second: int
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_adjusted: float | None
    n_units: int
    n_clusters: int
    reason: str | None = None
    method: str | None = None


def compare_differences(
    differences: Floats, clusters: Clusters, span: float | Floats
) -> list[Comparison]:
    """Compare each row of differences with 0.

    Args:
        differences: Rows x units, NaN if a unit has no difference.
        clusters: The cluster of each unit.
        span: The largest possible difference: one number, or one for each row.

    Returns:
        A comparison for each row. `first` and `second` are both the number of the row; `p_adjusted` is
        adjusted by Holm over all rows.
    """
    rows = [(row, row) for row in range(len(differences))]
    return compared_sides(PairTotals(rows, cluster_totals(differences, clusters)), span)


def compared_sides(differences: PairTotals, span: float | Floats) -> list[Comparison]:
    """Compare each pair of models; p is adjusted by Holm over all pairs.

    Args:
        differences: The totals of each pair.
        span: The largest possible difference: one number, or one for each pair.

    Returns:
        A comparison for each pair, in their order.
    """
    spans = np.broadcast_to(np.asarray(span, dtype=float), len(differences.pairs))
    p_unadjusted = [None if np.isnan(p) else float(p) for p in p_values(differences.totals, spans)]
    return [
        Comparison(
            first,
            second,
            estimate.value,
            estimate.ci_low,
            estimate.ci_high,
            p_value,
            p_adjusted,
            int(n_units),
            int(n_clusters),
            {0: NO_COMMON_UNITS, 1: ONE_CLUSTER}.get(int(n_clusters)),
            estimate.method,
        )
        for (first, second), estimate, p_value, p_adjusted, n_units, n_clusters in zip(
            differences.pairs,
            difference_estimates(differences.totals, spans),
            p_unadjusted,
            holm(p_unadjusted),
            differences.totals.sizes.sum(axis=1),
            differences.totals.n_clusters,
            strict=True,
        )
    ]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values by Holm's procedure, in the order given; None stays None and is no test.

    With p_(1) <= ... <= p_(m): adjusted p_(i) = max over j <= i of min(1, (m - j + 1) p_(j)).
    """
    adjusted: list[float | None] = [None] * len(p_values)
    ascending = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    largest = 0.0
    for done, (p, place) in enumerate(ascending):
        largest = max(largest, min(1.0, (len(ascending) - done) * p))
        adjusted[place] = largest
    return adjusted
