"""Observations written by hand, and the number that a metric makes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.observations import joined, label_column


@dataclass(frozen=True)
class ScoredObservation:
    """One observation of one model, with the labels of its turn."""

    item_id: str
    cluster: str
    trial: str
    turn: int
    metric: str
    value: float | None
    status: str = "judged"
    refused: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    part: str = ""
    replicates: tuple[float, ...] | None = None


def frame(observed: Mapping[str, Sequence[ScoredObservation]]) -> pd.DataFrame:
    """The observations of each model as a data frame."""
    rows = [
        {
            "model": model,
            **{name: value for name, value in vars(one).items() if name != "labels"},
            **{label_column(label): value for label, value in one.labels.items()},
        }
        for model, scored in observed.items()
        for one in scored
    ]
    return joined([pd.DataFrame(rows)] if rows else [])


def scored(
    item: str, value: float | None, *, turn: int = 1, trial: str = "plain", cluster: str = "",
    metric: str = "m", status: str = "", refused: bool = False, **labels: str,
) -> ScoredObservation:  # fmt: skip
    """One observation; without a value the model failed, unless the status says otherwise."""
    status = status or ("judged" if value is not None else "failed")
    where = (item, cluster or item, trial, turn)
    return ScoredObservation(*where, metric, value, status, refused, labels)


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
