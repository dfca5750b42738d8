"""One benchmark in two languages: what each model scores more in the first (MMBench, 5.2, Figure 7).

    difference of a unit = a_u - b_u, over the units of items that both releases have, with failures at
    the floor

Items are paired by id, and are a pair only if all but the language is alike: images, number of
choices, key. The interval draws the clusters of both at once, p flips the signs of clusters
(`statistics/comparisons.py`), and Holm's adjustment is over the models. What belongs here: which items
are pairs, and the figures. Which releases are compared is `assets/evaluate/language_gaps.py`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from methods.evaluation.contestants import is_model
from methods.evaluation.findings import Finding, counted, difference
from methods.evaluation.items import Item
from methods.evaluation.metrics import Metric, Scored, Unit
from methods.evaluation.metrics.units import by_stratum, comparable, matrix
from methods.evaluation.scoring import ALL, floored, mean, units_of
from methods.evaluation.slices import MOST_VALUES
from methods.evaluation.statistics.comparisons import Comparison, compare_differences, holm

SPLIT_BY = ("l2-category",)
"""Labels that differences are split by: the abilities that the paper reports both languages by (Tables
9 to 13)."""


class Pairing(NamedTuple):
    """Ids of the items that two releases have alike, and how many others there are.

    `n_unlike` have an id that both have, and are another item but for it.
    """

    paired: frozenset[str]
    n_only_first: int
    n_only_second: int
    n_unlike: int


@dataclass(frozen=True)
class Observed:
    """One of the two releases: its name in a reason, its items, each model's observations."""

    release_id: str
    items: Sequence[Item]
    of_models: Mapping[str, Sequence[Scored]] = field(default_factory=dict)


class Column(NamedTuple):
    """One model by one metric: both scores on common units, the units' differences, why there are
    none."""

    first_value: float | None
    second_value: float | None
    differences: list[Unit]
    reason: str | None


def paired(first: Iterable[Item], second: Iterable[Item]) -> Pairing:
    """Which items of two releases are the same but for their language."""
    ones, others = ({item.item_id: item for item in items} for items in (first, second))
    both = ones.keys() & others.keys()
    alike = {item_id for item_id in both if _alike(ones[item_id], others[item_id])}
    return Pairing(
        frozenset(alike), len(ones) - len(both), len(others) - len(both), len(both) - len(alike)
    )


def _alike(one: Item, other: Item) -> bool:
    """Whether images, turns, numbers of choices and keys are the same; a key that is held out is
    any."""
    keys = [
        {turn.references["key"] for turn in item.turns if "key" in turn.references}
        for item in (one, other)
    ]
    return (
        one.image_ids == other.image_ids
        and len(one.turns) == len(other.turns)
        and len(one.choices) == len(other.choices)
        and (not all(keys) or keys[0] == keys[1])
    )


def language_gap_findings(
    metrics: Sequence[Metric],
    first: Observed,
    second: Observed,
) -> Iterator[Finding]:
    """Both scores and their difference by metric, subset and model that was observed on either.

    Subsets, of micro means, are those of the labels `SPLIT_BY` that the items of the first release
    have. Nothing where no item is a pair.
    """
    pairing = paired(first.items, second.items)
    if not pairing.paired:
        return
    models = sorted(filter(is_model, {*first.of_models, *second.of_models}))
    for name in ("n_only_first", "n_only_second", "n_unlike"):
        yield counted(Finding(), name, "item", getattr(pairing, name))
    for subset, item_ids in _subsets([i for i in first.items if i.item_id in pairing.paired]):
        finding = Finding(subset_label=subset[0], subset_value=subset[1])
        yield counted(finding, "n_pairs", "item", len(item_ids))
        of_subset = [metric for metric in metrics if subset == ALL or metric.aggregation == "micro"]
        sides = [_of_items(side, item_ids) for side in (first, second)]
        columns = [_column(metric, model, *sides) for metric in of_subset for model in models]
        spans = np.repeat([metric.span for metric in of_subset], len(models))
        values, clusters = matrix([column.differences for column in columns])
        compared = compare_differences(values, clusters, spans)
        for place, metric in enumerate(of_subset):
            mine = slice(place * len(models), (place + 1) * len(models))
            finding = replace(
                finding, metric=metric.name, aggregation=metric.aggregation, unit="unit"
            )
            adjusted = holm([comparison.p_value for comparison in compared[mine]])
            for model, column, comparison, p in zip(
                models, columns[mine], compared[mine], adjusted, strict=True
            ):
                yield from _findings(replace(finding, subject=model), column, comparison, p)


def _findings(
    of: Finding, column: Column, compared: Comparison, p_holm: float | None
) -> Iterator[Finding]:
    for measure, value in (
        ("first_score", column.first_value),
        ("second_score", column.second_value),
    ):
        yield replace(
            of,
            measure=measure,
            n=compared.n_units,
            n_clusters=compared.n_clusters,
            value=value,
            reason=column.reason,
        )
    yield difference(of, compared, p_holm, column.reason or compared.reason)


def _subsets(items: Sequence[Item]) -> Iterator[tuple[tuple[str, str], set[str]]]:
    """(label, value) and the ids of its items; a label with one value splits nothing."""
    yield ALL, {item.item_id for item in items}
    for label in SPLIT_BY:
        values: dict[str, set[str]] = {}
        for item in items:
            if label in item.labels:
                values.setdefault(item.labels[label], set()).add(item.item_id)
        if 1 < len(values) <= MOST_VALUES:
            yield from (((label, value), values[value]) for value in sorted(values))


def _of_items(side: Observed, item_ids: set[str]) -> Observed:
    """The release with the observations that count at the floor, of these items alone."""
    of_models = {
        model: floored([score for score in scored if score.item_id in item_ids])
        for model, scored in side.of_models.items()
    }
    return Observed(side.release_id, side.items, of_models)


def _column(metric: Metric, model: str, first: Observed, second: Observed) -> Column:
    """One model's scores on the units that both releases have a value for, and their differences."""
    absent = [side.release_id for side in (first, second) if model not in side.of_models]
    if absent:
        return Column(None, None, [], f"It has no scores on {absent[0]}.")
    ones, others = (units_of(metric, side.of_models[model], "floor") for side in (first, second))
    shared = {unit.key for unit in ones} & {unit.key for unit in others}
    if not shared:
        return Column(None, None, [], "No unit has a value on both.")
    scores = [mean([unit for unit in units if unit.key in shared]) for units in (ones, others)]
    weighted, less = by_stratum(comparable([ones, others]))
    subtracted = {unit.key: unit.value or 0.0 for unit in less}
    first_value, second_value = (
        None if score is None else metric.statistic(score) for score in scores
    )
    differences = [
        replace(unit, value=(unit.value or 0.0) - subtracted[unit.key]) for unit in weighted
    ]
    return Column(first_value, second_value, differences, None)
