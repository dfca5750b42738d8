"""Observations written by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

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
