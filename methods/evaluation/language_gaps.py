"""One benchmark in two languages: what each model scores more in the first (MMBench, 5.2, Figure 7).

    difference of a unit = a_u - b_u, over the units of items that both releases have, with failures at
    the floor

Items are paired by id, and are a pair only if all but the language is alike: images, number of
choices, key. The interval draws the clusters of both at once, p flips the signs of clusters
(`statistics/comparisons.py`), and Holm's adjustment is over the models. What belongs here: which items
are pairs, and the rows. Which releases are compared is `assets/evaluate/language_gaps.py`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from methods.evaluation.contestants import is_model
from methods.evaluation.items import Item
from methods.evaluation.metrics import Metric, Scored
from methods.evaluation.ranking import by_stratum, matrix
from methods.evaluation.scoring import ALL, mean, units_of
from methods.evaluation.scoring import floored as at_the_floor
from methods.evaluation.slices import MOST_VALUES
from methods.evaluation.statistics.comparisons import Comparison, compare_pairs, holm
from methods.evaluation.statistics.resampling import N_RESAMPLES

Row = dict[str, Any]
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


def language_gaps(
    metrics: Sequence[Metric],
    first: Observed,
    second: Observed,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> list[Row]:
    """A row for each metric, subset and model that was observed on either release.

    Subsets, of micro means, are those of the labels `SPLIT_BY` that the items of the first release
    have. None where no item is a pair.
    """
    pairing = paired(first.items, second.items)
    if not pairing.paired:
        return []
    subsets = dict(_subsets([item for item in first.items if item.item_id in pairing.paired]))
    models = sorted(filter(is_model, {*first.of_models, *second.of_models}))
    counts = {name: n for name, n in pairing._asdict().items() if name != "paired"}
    rows: list[Row] = []
    for place, metric in enumerate(metrics):
        for subset, item_ids in subsets.items():
            if subset != ALL and metric.aggregation != "micro":
                continue
            compared = [
                _row(metric, first, second, model, item_ids, seed=seed, n_resamples=n_resamples)
                for model in models
            ]
            adjusted = holm([row["p"] for row in compared])
            rows += [
                {
                    "metric": metric.name,
                    "aggregation": metric.aggregation,
                    "place": place,
                    "subset_label": subset[0],
                    "subset_value": subset[1],
                    "n_pairs": len(item_ids),
                    **counts,
                    **row,
                    "p_holm": p,
                }
                for row, p in zip(compared, adjusted, strict=True)
            ]
    return rows


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


def _row(
    metric: Metric,
    first: Observed,
    second: Observed,
    model: str,
    item_ids: set[str],
    *,
    seed: int,
    n_resamples: int,
) -> Row:
    """One model's scores on both, of the units that both have, and their difference."""
    absent = [each.release_id for each in (first, second) if model not in each.of_models]
    if absent:
        return _nothing(model, f"It has no scores on {absent[0]}.")
    columns = [
        units_of(
            metric,
            at_the_floor([s for s in each.of_models[model] if s.item_id in item_ids]),
            "floor",
        )
        for each in (first, second)
    ]
    shared = {unit.key for unit in columns[0]} & {unit.key for unit in columns[1]}
    if not shared:
        return _nothing(model, "No unit has a value on both.")
    values, clusters = matrix(by_stratum(*columns))
    (pair,) = compare_pairs(values, clusters, "micro", seed=seed, n_resamples=n_resamples)
    scores = [mean([unit for unit in column if unit.key in shared]) for column in columns]
    return {
        "model": model,
        **{
            name: None if score is None else metric.statistic(score)
            for name, score in zip(("first_value", "second_value"), scores, strict=True)
        },
        **_of_pair(pair),
    }


def _of_pair(pair: Comparison) -> Row:
    return {
        "difference": pair.difference,
        "ci_low": pair.ci_low,
        "ci_high": pair.ci_high,
        "p": pair.p_value,
        "n_units": pair.n_units,
        "n_clusters": pair.n_clusters,
        "reason": pair.reason,
    }


def _nothing(model: str, reason: str) -> Row:
    none: Row = dict.fromkeys(
        ("first_value", "second_value", "difference", "ci_low", "ci_high", "p")
    )
    return {"model": model, **none, "n_units": 0, "n_clusters": 0, "reason": reason}
