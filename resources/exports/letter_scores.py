"""Score multiple-choice answers in evaluation tools that run without this project.

Exported tasks contain this module as one file (`self_contained.py`), together with the strict
extraction of letters. `methods/exports/letters.py` decides which passes count in the score.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from methods.choice.strict import read_letter

__all__ = ["read_letter", "summary"]


def summary(passes: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Compute the score of a benchmark as on its leaderboard.

    Args:
        passes: One mapping for each pass (one question to the model). `item`: the item's id. `right`:
            whether the answer is right; None if no rule extracts a letter. `passes`: the number of
            passes in which the item must be right; 0 if the pass does not count. `stratum`: the score
            is the mean of the means of the strata. `group`: related items.

    Returns:
        `score`: the percentage of items that are right in all of their passes. An item with a missing
        pass, whose request failed in the tool, is wrong. An item with an unread pass only counts if
        another pass is wrong. `standard_error`: that of the score, clustered by group. `unread`: the
        number of passes without an extracted letter. `lost`: the number of missing passes. Score and
        error are NaN if nothing counts.
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
