"""Sort keys and filters of the sample browser: scores of items, and disagreement of judges."""

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assets.evaluate.observed import JudgeObservations
from methods.evaluation.metrics import Metric

if TYPE_CHECKING:
    import pandas as pd

Column = tuple[dict[str, Any], Sequence[float | None]]
"""A description of the column, and a value for each item."""


def score_columns(
    ids: Sequence[str],
    metrics: Sequence[Metric],
    models: Sequence[str],
    judges: Sequence[tuple[str, str]],
    slices: Iterable[JudgeObservations],
) -> Iterator[Column]:
    """Yield the score of each item by metric, judge and model, and the disagreement of judges.

    Args:
        ids: The ids of the items, in order.
        metrics: The metrics that give single items a value.
        models: The models, in order.
        judges: Judges with their versions, in order.
        slices: The observations of each judge.

    Returns:
        Columns of the kinds `score`, `units` (the number of turns that a score averages, if more than
        one), `disagreement` (the largest minus the smallest score of the judges) and
        `disagreement_turn` (the turn with the largest disagreement).
    """
    by_judge = {(slice_.judge, slice_.version): slice_.observed for slice_ in slices}
    for place, metric in enumerate(metrics):
        units_by_judge = [
            _units_by_model(metric, by_judge[key], ids) if key in by_judge else {} for key in judges
        ]
        for number, model in enumerate(models):
            of_judges = []
            of_turns = []
            for judge, units_of_model in enumerate(units_by_judge):
                if model not in units_of_model:
                    continue
                of_model = units_of_model[model]
                items = of_model.groupby("unit")["value"].agg(["mean", "count"]).reindex(list(ids))
                means, n_units = items["mean"].to_numpy(), items["count"].fillna(0).astype(int)
                if not n_units.any():
                    continue
                of_judges.append(means)
                if of_model["turn"].all():
                    of_turns.append(
                        of_model.astype({"unit": str}).set_index(["unit", "turn"])["value"]
                    )
                about = {"metric": place, "judge": judge, "model": number}
                yield {"kind": "score", **about}, _plain(means)
                if n_units.max() > 1:
                    yield {"kind": "units", **about}, n_units.tolist()
            about = {"metric": place, "model": number}
            if len(of_judges) > 1:
                yield {"kind": "disagreement", **about}, _plain(_apart(of_judges))
            if len(of_turns) > 1:
                turns = _turns_apart(of_turns)
                values_of_turns = [turns.get(item_id) for item_id in ids]
                yield {"kind": "disagreement_turn", **about}, values_of_turns


def _units_by_model(
    metric: Metric, observed: "pd.DataFrame", ids: Sequence[str]
) -> "dict[str, pd.DataFrame]":
    """The units of the items with these ids, by model."""
    units = metric.units(observed, floor=True)
    of_items = units[units["unit"].isin(ids)]
    return {str(model): part for model, part in of_items.groupby("model")}


def _apart(values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the largest minus the smallest score of each item; NaN for fewer than two scores."""
    table = np.vstack(values)
    is_known = ~np.isnan(table)
    top = np.where(is_known, table, -np.inf).max(axis=0)
    low = np.where(is_known, table, np.inf).min(axis=0)
    return np.where(is_known.sum(axis=0) > 1, top - low, np.nan)


def _turns_apart(values: Sequence["pd.Series[float]"]) -> dict[str, int]:
    """Return for each item the turn with the largest disagreement; the first of equal turns."""
    import pandas as pd

    table = pd.concat(values, axis=1, keys=range(len(values))).dropna(subset=[0])
    gaps = table.max(axis=1) - table.min(axis=1)
    widest = gaps[gaps > 0].sort_index().sort_values(ascending=False, kind="stable")
    turns = widest.index.to_frame(index=False).drop_duplicates("unit")
    return dict(zip(turns["unit"], turns["turn"].tolist(), strict=True))


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    """Round numbers to four decimals; NaN becomes None."""
    return [plain_number(round(value, 4)) if isfinite(value) else None for value in values.tolist()]


def plain_number(value: float) -> float:
    """Convert a whole number to an integer, which JSON writes without ".0"."""
    return int(value) if value == int(value) else value
