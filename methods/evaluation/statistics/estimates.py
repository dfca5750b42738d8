"""An estimate: a value with its confidence interval."""

from dataclasses import dataclass

PSEUDO_CLUSTERS = "t, two pseudo-clusters"
BINOMIAL = "Clopper-Pearson"
PAIRED_T = "paired t, CR2, Cornish-Fisher"
"""The methods of the intervals in intervals.py."""
LEAST_CLUSTERS = 10
"""With fewer clusters, an interval is only indicative, not one of 95 %, and is marked with `~`."""
PERCENTILES = "bootstrap percentiles"
"""The method of the intervals in bootstrap.py."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, the number of clusters and the method; each may be None."""

    value: float | None
    ci_low: float | None
    ci_high: float | None
    n_clusters: int | None = None
    method: str | None = None


def mark_indicative(interval: str, n_clusters: int | None) -> str:
    """Put `~` before the text of an interval over too few clusters, which is only indicative.

    Args:
        interval: The text of the interval; empty for none.
        n_clusters: The number of clusters that it rests on; None if there are none.

    Returns:
        The text, with or without the mark.
    """
    few = n_clusters is not None and n_clusters < LEAST_CLUSTERS
    return f"~{interval}" if few and interval else interval
