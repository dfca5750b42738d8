"""Scores of lettered answers in tools that run where the project is not installed.

Exported tasks have this module as one file (`self_contained.py`), with the strict reading of letters in
it. What counts in a score follows from the metric that ranks (`methods/exports/letters.py`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from methods.choice.strict import strict

__all__ = ["strict", "summary"]


def summary(passes: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The score of a benchmark, as its leaderboard has it.

    Args:
        passes: One mapping a pass: `item`, its id; `right`, None if no rule reads the answer; `passes`,
            in how many the item has to be right, 0 if this pass counts in no score; `stratum`, whose
            means count alike; `group`, the items that belong together.

    Returns:
        `score`: the share of items, in percent, that are right in all of their passes; an item with an
        unread pass counts only if another pass is wrong. `standard_error` of it, clustered by group.
        `unread`: the number of passes whose letter no rule reads. NaN if nothing counts.
    """
    items: dict[str, list[Mapping[str, Any]]] = {}
    for each in passes:
        if each["passes"]:
            items.setdefault(each["item"], []).append(each)
    strata: dict[str, list[tuple[str, float]]] = {}
    for of_item in items.values():
        rights = [each["right"] for each in of_item]
        is_right = None not in rights and len(rights) == of_item[0]["passes"]
        if False in rights or is_right:
            value = 0.0 if False in rights else 100.0
            strata.setdefault(of_item[0]["stratum"], []).append((of_item[0]["group"], value))
    means = {stratum: sum(value for _, value in of) / len(of) for stratum, of in strata.items()}
    deviations: dict[str, float] = {}
    for stratum, of in strata.items():
        for group, value in of:
            share = (value - means[stratum]) / len(of) / len(strata)
            deviations[group] = deviations.get(group, 0.0) + share
    return {
        "score": sum(means.values()) / len(means) if means else math.nan,
        "standard_error": math.sqrt(sum(each**2 for each in deviations.values()))
        if means
        else math.nan,
        "unread": float(
            sum(each["right"] is None for of_item in items.values() for each in of_item)
        ),
    }
