"""Prompt sensitivity: the spread of scores over wordings of a question, and the effect of each style.

    effect of a style = mean over groups of (mean of the wordings in the style - mean of the group)

over the groups that have wordings in the style and others, so that a hard question counts against no
style. Interval and p come from a paired t-test over groups (`statistics/comparisons.py`). Holm's
adjustment is over all models and styles of a judge. AlignMMBench (4.3) measures the spread over
rewrites, not its causes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median, pstdev
from typing import TYPE_CHECKING

import numpy as np

from methods.evaluation.candidates import is_model
from methods.evaluation.findings import Finding, counted, difference
from methods.evaluation.items import Item
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.observations import models_in
from methods.evaluation.scoring import floored
from methods.evaluation.statistics.comparisons import compare_differences
from methods.prompts.messages import IMAGE_HERE
from methods.words import n_words

if TYPE_CHECKING:
    import pandas as pd

STYLE = "style"
"""The label of an item that names its style; without it, styles are found by rule."""
BY_RULE = "style told by rule"
GROUP = "group"
"""The label of subsets that consist of the wordings of one question."""
NO_OTHERS = "No group has wordings in this style and others."
QUESTION, POLITE, SHORTER, LONGER = "as a question", "polite", "shorter", "longer"
_ASKS = re.compile(r"[?？]\s*$")
_POLITE = re.compile(
    r"\b(?:please|kindly|(?:could|would|can) you|would you mind)\b|请(?!教)|麻烦|劳驾|能否|可否",
    re.IGNORECASE,
)


def groups_of(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Find the groups of two or more wordings of one question, by group id, in the order of the items.

    A group may also have items that only share an image: if images, choices or references differ, the
    items are not wordings of one question, and the group is left out.
    """
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.cluster, []).append(item)
    return {
        name: group
        for name, group in groups.items()
        if len(group) > 1 and all(_same_but_for_words(group[0], item) for item in group)
    }


def _same_but_for_words(item: Item, other: Item) -> bool:
    return (item.image_ids, item.choices, item.turns[-1].references) == (
        other.image_ids,
        other.choices,
        other.turns[-1].references,
    )


def styles_of(group: Sequence[Item]) -> dict[str, tuple[str, ...]]:
    """Find the styles of each wording of a group, by the item's id.

    The label `style` names the style. If no wording of the group has the label, rules decide: it ends
    with a question mark; it has a polite word; it has more or fewer words than the median.
    """
    if any(STYLE in item.labels for item in group):
        return {item.item_id: tuple(filter(None, [item.labels.get(STYLE)])) for item in group}
    texts = {item.item_id: text_of(item) for item in group}
    words = {item_id: n_words(text) for item_id, text in texts.items()}
    middle = median(words.values())
    return {
        item_id: tuple(
            style
            for style, has_it in (
                (QUESTION, _ASKS.search(text)),
                (POLITE, _POLITE.search(text)),
                (SHORTER, words[item_id] < middle),
                (LONGER, words[item_id] > middle),
            )
            if has_it
        )
        for item_id, text in texts.items()
    }


def text_of(item: Item) -> str:
    """The question of the last turn of a wording, without image tokens."""
    return item.turns[-1].question.replace(IMAGE_HERE, "").strip()


def sensitivity_findings(
    metrics: Sequence[Metric],
    items: Sequence[Item],
    observed: "pd.DataFrame",
) -> Iterator[Finding]:
    """Measure prompt sensitivity: the effect of each style, and the spread within a group of rewrites.

    The ratings are the units of the first metric with a micro mean; failures count as the lowest value.

    Args:
        metrics: The metrics of the benchmark.
        items: The items of the release.
        observed: The observations of every candidate.

    Yields:
        Effects by model and style, and spreads by model and group; nothing if no group has two
        wordings.
    """
    groups = groups_of(items)
    metric = next((metric for metric in metrics if metric.aggregation == "micro"), None)
    if not groups or metric is None:
        return
    styles = {name: styles_of(group) for name, group in groups.items()}
    names = sorted(
        {
            style
            for of_items in styles.values()
            for item_styles in of_items.values()
            for style in item_styles
        }
    )
    models = list(filter(is_model, models_in(observed)))
    ratings = metric.units(floored(observed), floor=True).dropna(subset=["value"])
    differences = np.full((len(models) * len(names), len(groups)), np.nan)
    n_wordings = np.zeros(len(differences), dtype=int)
    for place, model in enumerate(models):
        means = ratings[ratings["model"] == model].groupby("unit")["value"].mean().to_dict()
        for column, (name, group) in enumerate(groups.items()):
            mean_of_item = {
                item.item_id: means[item.item_id] for item in group if item.item_id in means
            }
            if len(mean_of_item) < 2:
                continue
            finding = Finding(
                subject=model, metric=metric.name, subset_label=GROUP, subset_value=name
            )
            yield from _spread(finding, mean_of_item)
            whole = fmean(mean_of_item.values())
            for number, style in enumerate(names):
                having = [
                    mean_of_item[item_id]
                    for item_id in mean_of_item
                    if style in styles[name][item_id]
                ]
                if 0 < len(having) < len(mean_of_item):
                    row = place * len(names) + number
                    differences[row, column] = fmean(having) - whole
                    n_wordings[row] += len(having)
    compared = compare_differences(differences, np.arange(len(groups)), metric.span)
    by_label = any(STYLE in item.labels for group in groups.values() for item in group)
    for row, comparison in enumerate(compared):
        finding = Finding(
            subject=models[row // len(names)],
            metric=metric.name,
            subset_label=STYLE if by_label else BY_RULE,
            subset_value=names[row % len(names)],
            unit="group",
        )
        reason = NO_OTHERS if comparison.difference is None else None
        yield difference(finding, comparison, comparison.p_adjusted, reason)
        yield counted(finding, "n_wordings", "wording", int(n_wordings[row]))


def _spread(finding: Finding, mean_of_item: Mapping[str, float]) -> Iterator[Finding]:
    worst = min(mean_of_item, key=lambda item_id: (mean_of_item[item_id], item_id))
    finding = replace(finding, unit="wording", n=len(mean_of_item))
    yield replace(finding, measure="mean", value=fmean(mean_of_item.values()))
    yield replace(finding, measure="deviation", value=pstdev(mean_of_item.values()))
    yield replace(finding, measure="lowest", value=mean_of_item[worst], other=worst)
    yield replace(finding, measure="highest", value=max(mean_of_item.values()))
