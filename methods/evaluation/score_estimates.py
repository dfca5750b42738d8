"""The mean of units of each model, or of each model and subset, with its interval.

A mean of strata has pseudo-values:

    theta = (1/L) sum_s theta_s,    dtheta/dw_c = (1/L) sum_s (t_cs - theta_s n_cs) / N_s

times sqrt(C_s / (C_s - 1)) for the C_s clusters of stratum s. A composite is a weighted sum of means
(`statistics/weighted_sums.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from methods.evaluation.metrics import Metric
from methods.evaluation.statistics.bootstrap import ClusterTotals
from methods.evaluation.statistics.estimates import Estimate
from methods.evaluation.statistics.intervals import score_estimates
from methods.evaluation.statistics.weighted_sums import weighted_sum

if TYPE_CHECKING:
    import pandas as pd

CELLS_AT_ONCE = 2**20
"""Numbers of a table of means x clusters that are in memory at once: 8 MiB for each array of them."""


class UnitMean(NamedTuple):
    """A mean with its interval, and the number of units of the term that has the fewest."""

    estimate: Estimate
    n_units: int


NO_MEAN = UnitMean(Estimate(None, None, None, 0), 0)
"""The mean of no units."""


def estimate(
    units: "pd.DataFrame", metrics: Mapping[int, Metric], by: Sequence[str] = ("model",)
) -> dict[tuple[Any, ...], UnitMean]:
    """Estimate the mean of the units of each combination of values of `by`, with its interval.

    Args:
        units: Units with a value.
        metrics: Metrics by the place of their units, for weights of terms and ends of the scale.
        by: The columns whose values separate means; with several metrics `place` is one.

    Returns:
        The means by values of `by`; the value is None without units of one of the terms.
    """
    weights = {place: tuple(metric.weights) for place, metric in metrics.items()}
    estimates: dict[tuple[Any, ...], UnitMean] = {}
    for of_terms in dict.fromkeys(weights.values()):
        places = [place for place in metrics if weights[place] == of_terms]
        ends = {place: metrics[place].ends for place in places}
        estimates |= weighted_estimates(units[units["place"].isin(places)], of_terms, ends, by)
    return estimates


def weighted_estimates(
    units: "pd.DataFrame",
    weights: Sequence[float],
    ends: Mapping[int, tuple[float, float]],
    by: Sequence[str],
) -> dict[tuple[Any, ...], UnitMean]:
    """Estimate means whose terms have the same weights.

    Args:
        units: Units with a value.
        weights: The weight of each term.
        ends: The lowest and the highest value of a unit, by the place of its metric.
        by: The columns whose values separate means.

    Returns:
        The means by values of `by`; the value is None without units of one of the terms.
    """
    import pandas as pd

    units = units.assign(mean=units.groupby(list(by), sort=False).ngroup())
    means = units.drop_duplicates("mean")
    scales = np.array([ends[place] for place in means["place"]]).reshape(-1, 2)
    totals = _cluster_totals(units)
    # A cluster has the same place in every term of a mean.
    numbers = totals.groupby(["mean", "cluster"]).ngroup()
    totals["position"] = numbers - numbers.groupby(totals["mean"]).transform("min")
    widths = totals.groupby("mean")["position"].max().add(1).sort_values()
    estimates: dict[int, Estimate] = {}
    for some in _portions(widths):
        part = totals[totals["mean"].isin(some.index)]
        rows = some.index.get_indexer(pd.Index(part["mean"]))
        table = np.zeros((2, len(weights), len(some), some.max()))
        table[:, part["term"], rows, part["position"]] = part[["sum", "size"]].to_numpy().T
        whole = weighted_sum(weights, [ClusterTotals(*of_term) for of_term in table.swapaxes(0, 1)])
        low, high = scales[some.index].T
        estimates |= zip(some.index, score_estimates(whole, low, high), strict=True)
    keys = means[list(by)].itertuples(index=False, name=None)
    sizes = units.groupby(["mean", "term"]).size().unstack("term", fill_value=0)
    n_units = sizes.reindex(columns=range(len(weights)), fill_value=0).min(axis=1)
    return {
        key: UnitMean(estimates[number], n)
        for number, (key, n) in enumerate(zip(keys, n_units.tolist(), strict=True))
    }


def _portions(widths: "pd.Series[int]") -> Iterator["pd.Series[int]"]:
    """Means of about as many clusters each, so that little of their table is empty."""
    start = 0
    while start < len(widths):
        # Widths ascend: the last one of a portion is the width of its table.
        sizes = widths.iloc[start:] * np.arange(1, len(widths) - start + 1)
        stop = start + max(1, int((sizes <= CELLS_AT_ONCE).sum()))
        yield widths.iloc[start:stop]
        start = stop


def _cluster_totals(units: "pd.DataFrame") -> "pd.DataFrame":
    """Sum and size of each cluster in each mean and term; pseudo-values where there are strata."""
    import pandas as pd

    totals = units.groupby(["mean", "term", "stratum", "cluster"])["value"].agg(["sum", "size"])
    totals = totals.reset_index()
    if not totals["stratum"].any():
        return totals
    has_strata = totals.groupby(["mean", "term"])["stratum"].transform("nunique") > 1
    if not has_strata.any():
        return totals
    return pd.concat([totals[~has_strata], _pseudo_totals(totals[has_strata])], ignore_index=True)


def _pseudo_totals(totals: "pd.DataFrame") -> "pd.DataFrame":
    """A pseudo-value for each cluster of a mean of strata."""
    key = ["mean", "term"]
    strata = totals.groupby([*key, "stratum"])
    of_stratum = strata[["sum", "size"]].transform("sum")
    n = strata["sum"].transform("size")
    sums = strata[["sum", "size"]].sum()
    means = (sums["sum"] / sums["size"]).groupby(level=key).agg(theta="mean", n_strata="size")
    totals = totals.join(means, on=key)
    # A single cluster does not say how its stratum varies: the others' mean stands in for it.
    center = (of_stratum["sum"] / of_stratum["size"]).where(n > 1, totals["theta"])
    spread = (n / (n - 1)).where(n > 1, 1.0) ** 0.5
    totals["influence"] = spread * (totals["sum"] - center * totals["size"]) / of_stratum["size"]
    clusters = (
        totals.groupby([*key, "cluster"])
        .agg(influence=("influence", "sum"), theta=("theta", "first"), n=("n_strata", "first"))
        .reset_index()
    )
    influences = clusters.groupby(key)["influence"]
    centered = (clusters["influence"] - influences.transform("mean")) / clusters["n"]
    clusters["sum"] = clusters["theta"] + influences.transform("size") * centered
    return clusters.assign(size=1)[[*key, "cluster", "sum", "size"]]
