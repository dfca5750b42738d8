"""Scores of lettered answers in tools that run where the project is not installed.

Exported tasks have this module as one file (`self_contained.py`), with the strict reading of letters in
it. What counts in a score follows from the metric that ranks (`methods/exports/letters.py`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from methods.choice.strict import read_letter

__all__ = ["read_letter", "summary"]


def summary(passes: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The score of a benchmark, as its leaderboard has it.

    Args:
        passes: One mapping a pass: `item`, its id; `right`, None if no rule reads the answer; `passes`,
            in how many the item has to be right, 0 if this pass counts in no score; `stratum`, whose
            means count alike; `group`, the items that belong together.

    Returns:
        `score`: the share of items, in percent, that are right in all of their passes. An item that
        lacks a pass, as the tool lost its request, is wrong. One with an unread pass counts only if it
        is wrong. `standard_error` of the score, clustered by group. `unread`: the number of passes
        whose letter no rule reads. `lost`: the number of passes that are lacking. NaN if nothing
        counts.
    """
    items: dict[str, list[Mapping[str, Any]]] = {}
    for question in passes:
        if question["passes"]:
            items.setdefault(question["item"], []).append(question)
    strata: dict[str, list[tuple[str, float]]] = {}
    n_lost = 0
    for of_item in items.values():
        rights = [each["right"] for each in of_item]
        lacking = of_item[0]["passes"] - len(rights)
        n_lost += lacking
        is_wrong = False in rights or lacking > 0
        if is_wrong or None not in rights:
            value = 0.0 if is_wrong else 100.0
            strata.setdefault(of_item[0]["stratum"], []).append((of_item[0]["group"], value))
    means = {stratum: sum(value for _, value in of) / len(of) for stratum, of in strata.items()}
    deviations: dict[str, float] = {}
    for stratum, members in strata.items():
        for group, value in members:
            share = (value - means[stratum]) / len(members) / len(strata)
            deviations[group] = deviations.get(group, 0.0) + share
    return {
        "score": sum(means.values()) / len(means) if means else math.nan,
        "standard_error": math.sqrt(sum(each**2 for each in deviations.values()))
        if means
        else math.nan,
        "unread": float(
            sum(each["right"] is None for of_item in items.values() for each in of_item)
        ),
        "lost": float(n_lost),
    }
