"""A model's scores on the common items of two releases.

Items are common if requests and references are equal (`methods/release_diff.py`), so that only the
model's answers and the judgments can differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from methods.evaluation.metrics import Metric, ScoredObservation
from methods.evaluation.ranking import compare
from methods.evaluation.scoring import floored, in_common, terms_of

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
    before: Sequence[ScoredObservation],
    after: Sequence[ScoredObservation],
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
    shared = [score for score in after if score.item_id in set(items.values())]
    of_turn = {(score.item_id, score.turn): score for score in shared}
    moved = []
    for score in before:
        if score.item_id in items:
            same_item = replace(score, item_id=items[score.item_id])
            counterpart = of_turn.get((same_item.item_id, same_item.turn))
            moved.append(
                same_item
                if counterpart is None
                else replace(same_item, labels=counterpart.labels, cluster=counterpart.cluster)
            )
    counting = {_BEFORE: floored(moved), _AFTER: floored(shared)}
    compared, _ = compare(metrics, counting, least_coverage=0.0)
    rows = {(row["metric"], row["aggregation"]): row for row in compared if row["form"] == "floor"}
    n_items = len(
        set.intersection(*({one.item_id for one in scores} for scores in counting.values()))
    )
    common = []
    for metric in metrics:
        terms = in_common(
            {name: terms_of(metric, scored, "floor") for name, scored in counting.items()}
        )
        values = [terms[name].mean() for name in (_BEFORE, _AFTER)]
        row = rows.get((metric.name, metric.aggregation))
        if row is None or row["difference"] is None or None in values:
            continue
        certain = same_calls and row["difference"] == 0
        first, second = (metric.statistic(value) for value in values if value is not None)
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
                len(terms[_AFTER]),
            )
        )
    return common
