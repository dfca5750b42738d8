"""Filters that flag multiple-choice items by the results of models (MMBench, 3.2)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from methods.evaluation.outcomes import Outcomes

TEXT_ONLY, WRONG_ITEM = "text_only", "wrong_item"


@dataclass(frozen=True)
class FlaggedItem:
    """An item with the models that are right, that are wrong, and whose result is unknown."""

    item_id: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    unknown: tuple[str, ...]


_RULES: Mapping[str, Callable[[FlaggedItem], bool]] = {
    TEXT_ONLY: lambda votes: len(votes.right) > len(votes.wrong),
    WRONG_ITEM: lambda votes: not votes.right,
}


@dataclass(frozen=True)
class FilterResult:
    """The result of a filter on a release.

    Attributes:
        n_undecided: The number of items with too few known results.
        why: Why the filter could not flag anything; None if it could.
    """

    models: tuple[str, ...]
    n_items: int
    flagged: tuple[FlaggedItem, ...]
    n_undecided: int
    why: str | None


def filtered(
    name: str, outcomes: Outcomes, models: Sequence[str], items: Sequence[str], least: int
) -> FilterResult:
    """Find the items that a filter flags.

    Args:
        name: `text_only`: more than half of the models answer correctly without the images.
            `wrong_item`: no model answers correctly.
        outcomes: The outcomes by model and item.
        models: The models; for `text_only` those asked without the images.
        items: The items.
        least: The number of models with a known outcome that an item needs.

    Returns:
        The flagged items, and the number of items that could not be decided.
    """
    named = tuple(dict.fromkeys(models))
    with_results = [model for model in named if model in outcomes]
    if len(with_results) < least:
        why = (
            f"Nothing is flagged: {len(with_results)} of the {len(named)} models of the set have "
            f"results on this release, and {least} are needed."
        )
        return FilterResult(named, len(items), (), len(items), why)
    votes = [_votes(outcomes, named, item) for item in items]
    decided = [
        item_votes for item_votes in votes if len(item_votes.right) + len(item_votes.wrong) >= least
    ]
    flagged = tuple(item_votes for item_votes in decided if _RULES[name](item_votes))
    return FilterResult(named, len(items), flagged, len(votes) - len(decided), None)


def _votes(outcomes: Outcomes, models: Sequence[str], item: str) -> FlaggedItem:
    models_by_outcome: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for model in models:
        models_by_outcome[outcomes.get(model, {}).get(item)].append(model)
    return FlaggedItem(
        item, *(tuple(models_by_outcome[outcome]) for outcome in (True, False, None))
    )
