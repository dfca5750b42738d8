"""Observations for the tests of metrics, and the number that a metric makes of them."""

from collections.abc import Sequence

from methods.evaluation.metrics import Metric
from tests.methods.evaluation.observed import ScoredObservation, frame


def scored(
    item: str, value: float | None, *, turn: int = 1, trial: str = "plain", cluster: str = "",
    metric: str = "m", status: str = "", refused: bool = False, **labels: str,
) -> ScoredObservation:  # fmt: skip
    """One observation; without a value the model failed, unless the status says otherwise."""
    status = status or ("judged" if value is not None else "failed")
    return ScoredObservation(
        item, cluster or item, trial, turn, metric, value, status, refused, labels
    )


def values(metric: Metric, observed: Sequence[ScoredObservation], *, floor: bool = False) -> dict:
    """The value of each unit by its item, and by its turn if it is one."""
    units = metric.units(frame({"m": observed}), floor=floor)
    return {
        (unit, turn) if turn else (unit,): None if value != value else value
        for unit, turn, value in units[["unit", "turn", "value"]].itertuples(index=False)
    }


def number(metric, observed, *, floor=False) -> float | None:
    """The metric's number by hand: the mean of units, or of the means of strata; None without units."""
    strata: dict[int, list[float]] = {}
    units = metric.units(frame({"m": observed}), floor=floor).dropna(subset=["value"])
    for stratum, value in units[["stratum", "value"]].itertuples(index=False):
        strata.setdefault(stratum, []).append(value)
    means = [sum(of) / len(of) for of in strata.values()]
    return metric.statistic(sum(means) / len(means)) if means else None
