"""Language gap: how much more each model scores in the first of two languages (MMBench, 5.2, Figure 7).

    difference of a unit u = a_u - b_u, its values in the first and in the second language, over the
    units of items that both releases have, with failures as the lowest value

Items are paired by id, and only if all but the language is the same: images, number of choices, key.
Interval and p come from a paired t-test over clusters (`statistics/comparisons.py`). Holm's adjustment
is over the models.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from methods.evaluation.candidates import is_model
from methods.evaluation.findings import Finding, counted, difference
from methods.evaluation.items import Item
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.observations import models_in
from methods.evaluation.metrics.units import KEY, matrices, means, units_of
from methods.evaluation.ranking import chosen_pairs
from methods.evaluation.scoring import ALL, floored
from methods.evaluation.slices import MOST_VALUES
from methods.evaluation.statistics.comparisons import Comparison

if TYPE_CHECKING:
    import pandas as pd

SPLIT_BY = ("l2-category",)
"""Labels that differences are split by: the abilities by which the paper reports both languages (Tables
9 to 13)."""
_SECOND = " in the second language"
"""After the name of a model: its units on the second release."""


class ItemPairing(NamedTuple):
    """The ids of the items that two releases have in common, and the number of others.

    `n_unlike` is the number of items with the same id and different contents.
    """

    paired: frozenset[str]
    n_only_first: int
    n_only_second: int
    n_unlike: int


@dataclass(frozen=True)
class ReleaseObservations:
    """One of the two releases: its name in a reason, its items, its observations."""

    release_id: str
    items: Sequence[Item]
    observed: "pd.DataFrame"


class GapScore(NamedTuple):
    """One model's scores in both languages by one metric on common units, and why there are none."""

    first_value: float | None
    second_value: float | None
    reason: str | None


def paired_items(first: Iterable[Item], second: Iterable[Item]) -> ItemPairing:
    """Find the items of two releases that are the same except for their language.

    Args:
        first: The items of the first release.
        second: The items of the second release.

    Returns:
        The ids of the pairs, and the numbers of items that are in one release only or differ.
    """
    ones, others = ({item.item_id: item for item in items} for items in (first, second))
    both = ones.keys() & others.keys()
    alike = {item_id for item_id in both if _alike(ones[item_id], others[item_id])}
    return ItemPairing(
        frozenset(alike), len(ones) - len(both), len(others) - len(both), len(both) - len(alike)
    )


def _alike(first: Item, second: Item) -> bool:
    """Whether images and keys are the same, and the numbers of turns and choices. A key that is held
    out matches any key."""
    keys = [
        {turn.references["key"] for turn in item.turns if "key" in turn.references}
        for item in (first, second)
    ]
    return (
        first.image_ids == second.image_ids
        and len(first.turns) == len(second.turns)
        and len(first.choices) == len(second.choices)
        and (not all(keys) or keys[0] == keys[1])
    )


def language_gap_findings(
    metrics: Sequence[Metric],
    first: ReleaseObservations,
    second: ReleaseObservations,
) -> Iterator[Finding]:
    """Compare the scores of models in two languages, by metric, subset and model.

    Subsets have micro means only. They are the values of the labels `SPLIT_BY` of the items of the
    first release.

    Args:
        metrics: The metrics of the benchmark.
        first: Items and observations of the first release.
        second: Items and observations of the second release.

    Yields:
        Both scores and their difference; nothing if no item is a pair.
    """
    pairing = paired_items(first.items, second.items)
    if not pairing.paired:
        return
    models = list(filter(is_model, {*models_in(first.observed), *models_in(second.observed)}))
    models.sort()
    for name in ("n_only_first", "n_only_second", "n_unlike"):
        yield counted(Finding(), name, "item", getattr(pairing, name))
    for subset, item_ids in _subsets([i for i in first.items if i.item_id in pairing.paired]):
        finding = Finding(subset_label=subset[0], subset_value=subset[1])
        yield counted(finding, "n_pairs", "item", len(item_ids))
        of_subset = [metric for metric in metrics if subset == ALL or metric.aggregation == "micro"]
        sides = [_of_items(side, item_ids) for side in (first, second)]
        for metric in of_subset:
            units = _common_units(metric, *sides)
            finding = replace(
                finding, metric=metric.name, aggregation=metric.aggregation, unit="unit"
            )
            for model, score, comparison in zip(
                models,
                _scores(metric, models, units, sides),
                _compared(metric, models, units),
                strict=True,
            ):
                yield from _findings(replace(finding, subject=model), score, comparison)


def _common_units(
    metric: Metric, first: ReleaseObservations, second: ReleaseObservations
) -> "pd.DataFrame":
    """The units that both releases have a value for: `value` and `value_second`."""
    ones, others = (units_of({0: metric}, side.observed, floor=True) for side in (first, second))
    key = ["model", *KEY]
    others = others.rename(columns={"value": "value_second", "stratum": "stratum_second"})
    return ones.astype({"model": str, "unit": str}).merge(
        others.astype({"model": str, "unit": str}).drop(columns="cluster"), on=key
    )


def _scores(
    metric: Metric,
    models: Sequence[str],
    units: "pd.DataFrame",
    sides: Sequence[ReleaseObservations],
) -> Iterator[GapScore]:
    """The scores of each model on the common units."""
    first = means(units, metric.weights)
    second = means(
        units.drop(columns=["value", "stratum"]).rename(
            columns={"value_second": "value", "stratum_second": "stratum"}
        ),
        metric.weights,
    )
    scored = [(side.release_id, {*models_in(side.observed)}) for side in sides]
    for model in models:
        absent = [release_id for release_id, names in scored if model not in names]
        values = [scores.get(model, np.nan) for scores in (first, second)]
        if absent:
            yield GapScore(None, None, f"It has no scores on {absent[0]}.")
        elif np.isnan(values).any():
            yield GapScore(None, None, "No unit has a value on both.")
        else:
            yield GapScore(metric.statistic(values[0]), metric.statistic(values[1]), None)


def _compared(metric: Metric, models: Sequence[str], units: "pd.DataFrame") -> list[Comparison]:
    """Compare each model's values in the two languages, with the weights of the model's strata."""
    import pandas as pd

    of_second = units.assign(model=units["model"] + _SECOND, value=units["value_second"])
    names = [*models, *(model + _SECOND for model in models)]
    terms = matrices(pd.concat([units, of_second]), names, len(metric.weights))
    pairs = [(row, row + len(models)) for row in range(len(models))]
    return [comparison for comparison, _ in chosen_pairs(terms, pairs, metric)]


def _findings(finding: Finding, score: GapScore, compared: Comparison) -> Iterator[Finding]:
    for measure, value in (
        ("first_score", score.first_value),
        ("second_score", score.second_value),
    ):
        yield replace(
            finding,
            measure=measure,
            n=compared.n_units,
            n_clusters=compared.n_clusters,
            value=value,
            reason=score.reason,
        )
    yield difference(finding, compared, compared.p_adjusted, score.reason or compared.reason)


def _subsets(items: Sequence[Item]) -> Iterator[tuple[tuple[str, str], set[str]]]:
    """Yield each (label, value) with the ids of its items; not labels with one or too many values."""
    yield ALL, {item.item_id for item in items}
    for label in SPLIT_BY:
        values: dict[str, set[str]] = {}
        for item in items:
            if label in item.labels:
                values.setdefault(item.labels[label], set()).add(item.item_id)
        if 1 < len(values) <= MOST_VALUES:
            yield from (((label, value), values[value]) for value in sorted(values))


def _of_items(side: ReleaseObservations, item_ids: set[str]) -> ReleaseObservations:
    """Keep the observations of these items that count in the form `floor`."""
    of_items = side.observed["item_id"].isin(item_ids)
    return replace(side, observed=floored(side.observed[of_items]))
