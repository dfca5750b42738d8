"""A model's scores on the common items of two releases.

Items are common if requests and references are equal (`methods/release_diff.py`), so that only the
model's answers and the judgments can differ.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.observations import joined, label_column, labels_in
from methods.evaluation.metrics.units import in_common, means, units_of
from methods.evaluation.ranking import compare
from methods.evaluation.scoring import floored

if TYPE_CHECKING:
    import pandas as pd

_BEFORE, _AFTER = "before", "after"


class CommonScore(NamedTuple):
    """One metric of one model on the common items, with failures as the lowest value.

    Attributes:
        before: The score on the first release.
        after: The score on the second release.
        difference: `after` minus `before`, with a 95 % interval; for an inverse metric, that of the
            mean behind it. The interval is None with one dialogue or group.
        n_items: The number of items observed on both releases.
        n_units: The number of averaged units.
    """

    metric: Metric
    before: float
    after: float
    difference: float
    ci_low: float | None
    ci_high: float | None
    n_items: int
    n_units: int


def common_scores(
    metrics: Sequence[Metric],
    before: "pd.DataFrame",
    after: "pd.DataFrame",
    items: Mapping[str, str],
    *,
    same_calls: bool,
) -> list[CommonScore]:
    """Compare the scores of one model by one version of one judge on the common items of two releases.

    Units without a value in one of the releases, because the judge failed there, are left out of both.
    Labels and groups are those of the second release, so that metrics that average over labels can be
    compared.

    Args:
        metrics: The metrics of the benchmark.
        before: The model's observations on the first release.
        after: The model's observations on the second release.
        items: The id in the second release of each common item, by its id in the first.
        same_calls: Whether all common items rest on the same answers and judgments. Then a difference
            of 0 is certain, and its interval has no width.

    Returns:
        A score for each metric that has a unit in both releases.
    """
    counting = floored(_with_same_ids(before, after, items))
    compared, _ = compare(metrics, counting, least_coverage=0.0)
    rows = {(row["metric"], row["aggregation"]): row for row in compared if row["form"] == "floor"}
    n_items = int((counting.groupby("item_id")["model"].nunique() == 2).sum())
    common = []
    for metric in metrics:
        units = in_common(units_of({0: metric}, counting, floor=True))
        values = means(units, metric.weights).reindex([_BEFORE, _AFTER])
        row = rows.get((metric.name, metric.aggregation))
        if row is None or row["difference"] is None or values.isna().any():
            continue
        certain = same_calls and row["difference"] == 0
        first, second = map(metric.statistic, values)
        common.append(
            CommonScore(
                metric,
                first,
                second,
                # `after` minus `before`: models are compared in the order of their names.
                row["difference"],
                0.0 if certain else row["ci_low"],
                0.0 if certain else row["ci_high"],
                n_items,
                int(units[units["model"] == _AFTER].groupby("term").size().min()),
            )
        )
    return common


def _with_same_ids(
    before: "pd.DataFrame", after: "pd.DataFrame", items: Mapping[str, str]
) -> "pd.DataFrame":
    """The observations of common items, with ids, labels and clusters of the second release."""
    turn = ["item_id", "turn"]
    names = ["cluster", *map(label_column, labels_in(after))]
    shared = after[after["item_id"].isin(items.values())]
    moved = before[before["item_id"].isin(items)]
    moved = moved.assign(item_id=moved["item_id"].map(dict(items)).astype(str))
    of_turns = shared.astype({"item_id": str}).drop_duplicates(turn, keep="last")
    of_turns = of_turns.set_index(turn)[names].astype(object)
    same_turns = moved.reindex(columns=list(dict.fromkeys([*moved, *names]))).set_index(turn)
    same_turns = same_turns.astype(dict.fromkeys(names, object))
    has_counterpart = same_turns.index.isin(of_turns.index)
    same_turns.loc[has_counterpart, names] = of_turns.reindex(
        same_turns.index[has_counterpart]
    ).to_numpy()
    return joined([same_turns.reset_index().assign(model=_BEFORE), shared.assign(model=_AFTER)])
