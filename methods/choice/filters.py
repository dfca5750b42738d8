"""Filters of items that people should look at (MMBench, 3.2, quality control).

    text-only    more than half of the models are right without the picture, under circular evaluation
    wrong item   every model fails

What belongs here: which items a filter flags, and by which models. Both propose; people decide. No
released code has them. Where the outcomes come from is `methods/evaluation/outcomes.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from methods.evaluation.outcomes import Outcomes

TEXT_ONLY, WRONG_ITEM = "text_only", "wrong_item"


@dataclass(frozen=True)
class Flagged:
    """An item with the models that are right, wrong, and not known to be either."""

    item_id: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Filtered:
    """What a filter found in a release.

    `n_undecided` items have too few known results. `why`: why it could flag nothing; None where it
    could.
    """

    models: tuple[str, ...]
    n_items: int
    flagged: tuple[Flagged, ...]
    n_undecided: int
    why: str | None


def text_only(
    outcomes: Outcomes, models: Sequence[str], items: Sequence[str], least: int
) -> Filtered:
    """Items that more than half of `models`, asked without the pictures, have right.

    Of the models whose result is known, of which an item needs at least `least`.
    """
    return _filtered(outcomes, models, items, least, lambda of: len(of.right) > len(of.wrong))


def wrong_items(
    outcomes: Outcomes, models: Sequence[str], items: Sequence[str], least: int
) -> Filtered:
    """Items that none of `models` has right; `least` as for `text_only`."""
    return _filtered(outcomes, models, items, least, lambda of: not of.right)


def _filtered(
    outcomes: Outcomes,
    models: Sequence[str],
    items: Sequence[str],
    least: int,
    is_flagged: Callable[[Flagged], bool],
) -> Filtered:
    named = tuple(dict.fromkeys(models))
    with_results = [model for model in named if model in outcomes]
    if len(with_results) < least:
        why = (
            f"Nothing is flagged: {len(with_results)} of the {len(named)} models of the set have "
            f"results on this release, and {least} are needed."
        )
        return Filtered(named, len(items), (), len(items), why)
    votes = [_votes(outcomes, named, item) for item in items]
    decided = [of for of in votes if len(of.right) + len(of.wrong) >= least]
    flagged = tuple(of for of in decided if is_flagged(of))
    return Filtered(named, len(items), flagged, len(votes) - len(decided), None)


def _votes(outcomes: Outcomes, models: Sequence[str], item: str) -> Flagged:
    said: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for model in models:
        said[outcomes.get(model, {}).get(item)].append(model)
    return Flagged(item, *(tuple(said[outcome]) for outcome in (True, False, None)))
