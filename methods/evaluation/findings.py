"""A finding: one figure from an analysis of scores, with its interval and its test."""

from dataclasses import dataclass, replace

from methods.evaluation.statistics.comparisons import Comparison
from methods.evaluation.statistics.estimates import Estimate


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One row of `evaluate.findings` without its analysis and release.

    Attributes:
        judge: The judge, or the reader of answers, that the figure is about.
        subject: The model or other subject; empty for all.
        other: The model or group that the subject is compared with.
        unit: The unit that `n` counts.
        method: The method of the interval.
        reason: Why there is no value, or no interval.
    """

    measure: str = ""
    judge: str = ""
    subject: str = ""
    other: str = ""
    metric: str = ""
    aggregation: str = ""
    subset_label: str = ""
    subset_value: str = ""
    unit: str = ""
    n: int = 0
    n_clusters: int | None = None
    value: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    method: str | None = None
    reason: str | None = None


def counted(finding: Finding, measure: str, unit: str, n: int) -> Finding:
    """Fill in a count.

    Args:
        finding: The finding, without a measure.
        measure: The name of the measure.
        unit: What is counted.
        n: The count.

    Returns:
        The finding with the count as its value.
    """
    return replace(finding, measure=measure, unit=unit, n=n, value=float(n))


def estimated(finding: Finding, estimate: Estimate, reason: str | None = None) -> Finding:
    """Fill in an estimate.

    Args:
        finding: The finding with its measure.
        estimate: The value with its interval.
        reason: Why there is no value; dropped if there is one.

    Returns:
        The finding with the value.
    """
    return replace(
        finding,
        value=estimate.value,
        ci_low=estimate.ci_low,
        ci_high=estimate.ci_high,
        n_clusters=estimate.n_clusters,
        method=estimate.method,
        reason=reason if estimate.value is None else None,
    )


def difference(
    finding: Finding, compared: Comparison, p_holm: float | None, reason: str | None
) -> Finding:
    """Fill in the difference of a comparison with its test.

    Args:
        finding: The finding, without a measure.
        compared: The comparison.
        p_holm: p adjusted by Holm.
        reason: Why there is no difference or no test.

    Returns:
        The finding with the measure `difference`.
    """
    return replace(
        finding,
        measure="difference",
        n=compared.n_units,
        n_clusters=compared.n_clusters,
        value=compared.difference,
        ci_low=compared.ci_low,
        ci_high=compared.ci_high,
        p=compared.p_value,
        p_holm=p_holm,
        method=compared.method,
        reason=reason,
    )
