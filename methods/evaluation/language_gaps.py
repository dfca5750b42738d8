"""Language gap: how much more each model scores in the first of two languages (MMBench, 5.2, Figure 7).

    difference of a unit u = a_u - b_u, its values in the first and in the second language, over the
    units of items that both releases have, with failures as the lowest value

Items are paired by id, and only if all but the language is the same: images, number of choices, key.
Interval and p come from a paired t-test over clusters (`statistics/comparisons.py`). Holm's adjustment
is over the models.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from methods.evaluation.candidates import is_model
from methods.evaluation.findings import Finding, counted, difference
from methods.evaluation.items import Item
from methods.evaluation.metrics import Metric, ScoredObservation
from methods.evaluation.metrics.terms import WeightedTerms
from methods.evaluation.metrics.units import Units, aligned, by_stratum, matrix
from methods.evaluation.ranking import on_clusters
from methods.evaluation.scoring import ALL, floored, terms_of
from methods.evaluation.slices import MOST_VALUES
from methods.evaluation.statistics.bootstrap import cluster_totals
from methods.evaluation.statistics.comparisons import Comparison, PairTotals, compared_sides
from methods.evaluation.statistics.weighted_sums import weighted_sum

SPLIT_BY = ("l2-category",)
"""Labels that differences are split by: the abilities by which the paper reports both languages (Tables
9 to 13)."""


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
    """One of the two releases: its id, its items, and each model's observations."""

    release_id: str
    items: Sequence[Item]
    of_models: Mapping[str, Sequence[ScoredObservation]] = field(default_factory=dict)


class GapScores(NamedTuple):
    """One model's scores in both languages by one metric: both scores on common units, the differences
    of the units for each term of the metric, and the reason if there are none.
    """

    first_value: float | None
    second_value: float | None
    differences: list[Units]
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
    models = sorted(filter(is_model, {*first.of_models, *second.of_models}))
    for name in ("n_only_first", "n_only_second", "n_unlike"):
        yield counted(Finding(), name, "item", getattr(pairing, name))
    for subset, item_ids in _subsets([i for i in first.items if i.item_id in pairing.paired]):
        finding = Finding(subset_label=subset[0], subset_value=subset[1])
        yield counted(finding, "n_pairs", "item", len(item_ids))
        of_subset = [metric for metric in metrics if subset == ALL or metric.aggregation == "micro"]
        sides = [_of_items(side, item_ids) for side in (first, second)]
        for metric in of_subset:
            columns = [_column(metric, model, *sides) for model in models]
            finding = replace(
                finding, metric=metric.name, aggregation=metric.aggregation, unit="unit"
            )
            for model, column, comparison in zip(
                models, columns, _compared(metric, columns), strict=True
            ):
                yield from _findings(replace(finding, subject=model), column, comparison)


def _compared(metric: Metric, columns: Sequence[GapScores]) -> list[Comparison]:
    """Compare each model's differences with 0, by one metric."""
    of_terms = [
        [column.differences[place] for column in columns] for place in range(len(metric.terms))
    ]
    of_clusters = [cluster_totals(*matrix(of_term)) for of_term in of_terms]
    totals = weighted_sum(
        [term.weight for term in metric.terms], on_clusters(of_clusters, of_terms)
    )
    compared = compared_sides(
        PairTotals([(row, row) for row in range(len(columns))], totals), metric.span
    )
    n_units = np.min([of.sizes.sum(axis=1) for of in of_clusters], axis=0)
    return [replace(one, n_units=int(n)) for one, n in zip(compared, n_units, strict=True)]


def _findings(finding: Finding, column: GapScores, compared: Comparison) -> Iterator[Finding]:
    for measure, value in (
        ("first_score", column.first_value),
        ("second_score", column.second_value),
    ):
        yield replace(
            finding,
            measure=measure,
            n=compared.n_units,
            n_clusters=compared.n_clusters,
            value=value,
            reason=column.reason,
        )
    yield difference(finding, compared, compared.p_adjusted, column.reason or compared.reason)


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
    of_models = {
        model: floored([score for score in scored if score.item_id in item_ids])
        for model, scored in side.of_models.items()
    }
    return ReleaseObservations(side.release_id, side.items, of_models)


def _column(
    metric: Metric, model: str, first: ReleaseObservations, second: ReleaseObservations
) -> GapScores:
    """Compute one model's scores on units that have a value in both releases, and their differences."""
    absent = [side.release_id for side in (first, second) if model not in side.of_models]
    none = [Units.from_units([]) for _ in metric.terms]
    if absent:
        return GapScores(None, None, none, f"It has no scores on {absent[0]}.")
    ones, others = (terms_of(metric, side.of_models[model], "floor") for side in (first, second))
    shared = [aligned(pair) for pair in zip(ones.units, others.units, strict=True)]
    scores = [WeightedTerms(ones.weights, units).mean() for units in zip(*shared, strict=True)]
    if None in scores:
        return GapScores(None, None, none, "No unit has a value on both.")
    first_value, second_value = (metric.statistic(score) for score in scores if score is not None)
    differences = [_difference(*by_stratum(pair)) for pair in shared]
    return GapScores(first_value, second_value, differences, None)


def _difference(units: Units, less: Units) -> Units:
    """Subtract the values of `less` from those of `units`; both are the same units."""
    return replace(units, values=units.values - less.values)
