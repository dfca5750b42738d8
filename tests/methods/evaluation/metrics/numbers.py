"""Observations for the tests of metrics, and the number that a metric makes of them."""

from collections.abc import Sequence

from methods.evaluation.metrics import Metric, ScoredObservation, Unit


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
    """The value of each unit by its key."""
    return {unit.key: unit.value for unit in metric.units(observed, floor=floor)}


def number(metric: Metric, observed: Sequence[ScoredObservation], *, floor: bool = False) -> float:
    """The metric's number by hand: the mean of units, or of the means of strata."""
    strata: dict[str, list[float]] = {}
    units: list[Unit] = metric.units(observed, floor=floor)
    for unit in units:
        if unit.value is not None:
            strata.setdefault(unit.stratum, []).append(unit.value)
    means = [sum(of) / len(of) for of in strata.values()]
    return metric.statistic(sum(means) / len(means))
