"""Sort keys and filters of the sample browser: scores of items, and disagreement of judges."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assets.evaluate.observed import JudgeObservations
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.units import Units

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
    by_judge = {(slice_.judge, slice_.version): slice_ for slice_ in slices}
    place_of = {item_id: place for place, item_id in enumerate(ids)}
    for place, metric in enumerate(metrics):
        for number, model in enumerate(models):
            of_judges = []
            of_turns = []
            for judge, key in enumerate(judges):
                units = _units(by_judge.get(key), metric, model)
                values = None if units is None else _values(units, place_of)
                if units is None or values is None:
                    continue
                means, n_units = values
                of_judges.append(means)
                if units.kind == "turn":
                    of_turns.append(dict(zip(units.keys, units.values.tolist(), strict=True)))
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


def _units(slice_: JudgeObservations | None, metric: Metric, model: str) -> Units | None:
    """Return the units of a model that have a value; None if there are none."""
    if slice_ is None or model not in slice_.observed:
        return None
    units = Units.from_units(metric.units(slice_.observed[model], floor=True)).valued()
    return units if len(units) else None


def _values(
    units: Units, place_of: Mapping[str, int]
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Return the mean of each item's units (NaN without units) and their number; None if no item has
    units.
    """
    # The first part of a unit's key is its item id, unless the unit covers several items.
    places = np.array([place_of.get(str(key[0]), -1) for key in units.keys])
    is_known = places >= 0
    if not is_known.any():
        return None
    n = np.bincount(places[is_known], minlength=len(place_of))
    sums = np.bincount(places[is_known], units.values[is_known], minlength=len(place_of))
    with np.errstate(invalid="ignore"):
        return sums / n, n


def _apart(values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the largest minus the smallest score of each item; NaN for fewer than two scores."""
    table = np.vstack(values)
    is_known = ~np.isnan(table)
    top = np.where(is_known, table, -np.inf).max(axis=0)
    low = np.where(is_known, table, np.inf).min(axis=0)
    return np.where(is_known.sum(axis=0) > 1, top - low, np.nan)


def _turns_apart(values: Sequence[Mapping[Any, float]]) -> dict[str, int]:
    """Return for each item the turn with the largest disagreement; the first of equal turns."""
    widest: dict[str, tuple[float, int]] = {}
    for key in values[0]:
        item_id, turn = key
        scores = [of_judge[key] for of_judge in values if key in of_judge]
        gap = max(scores) - min(scores)
        if gap > widest.get(item_id, (0.0, 0))[0]:
            widest[item_id] = (gap, turn)
    return {item_id: turn for item_id, (_, turn) in widest.items()}


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    """Round numbers to four decimals; NaN becomes None."""
    return [plain_number(round(value, 4)) if isfinite(value) else None for value in values.tolist()]


def plain_number(value: float) -> float:
    """Convert a whole number to an integer, which JSON writes without ".0"."""
    return int(value) if value == int(value) else value
