"""Gold: items whose right decision is known, given to annotators again to see how well they decide."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple

from methods.ids import seeded_fraction
from methods.review.decisions import Decision, QueueItem
from methods.review.kinds import KINDS
from methods.review.overview import day_of
from methods.review.process import Calibration, ReviewState
from methods.review.ratings import CHOSEN, SCORE, VERDICT, values_of

POINTS = 1
"""A score is right within so many points."""


def expected_of(item: QueueItem, state: ReviewState) -> dict[str, Any] | None:
    """What an expert made of a queued item: {"verdict", "content"}; None where none has decided it.

    The verdict is `edit` where what was approved is not what was queued, whoever edited it. The content
    of a rejected item is None.
    """
    if state.expert_decision is None or state.status.name not in ("approved", "rejected"):
        return None
    if state.status.name == "rejected":
        return {"verdict": "reject", "content": None}
    same = state.item["content_hash"] == item["content_hash"]
    return {"verdict": "accept" if same else "edit", "content": state.item["content"]}


def is_hit(item: QueueItem, decision: Decision, expected: dict[str, Any]) -> bool:
    """Whether a decision on a gold item is the expert's.

    A category or a letter is the same one, each score is within POINTS of the expert's. Of a text the
    verdict is the same: that there is something to change counts, not the words of the change.
    """
    if "reject" in (decision.verdict, expected["verdict"]):
        return bool(decision.verdict == expected["verdict"])
    content = decision.edits or item["content"]
    if item["kind"] == SCORE:
        scores, right = content["scores"], expected["content"]["scores"]
        return all(
            scores[name] is not None and abs(scores[name] - score) <= POINTS
            for name, score in right.items()
            if score is not None
        )
    key = CHOSEN.get(item["kind"])
    if key is not None:
        return bool(content[key] == expected["content"][key])
    if KINDS[item["kind"]].needs_edit(item["content"]):
        return True
    return bool(decision.verdict == expected["verdict"])


def is_due(reviewer: str, n_decided: int, n_gold: int, share: float) -> bool:
    """Whether a person's next item is a gold one, so that `share` of all that they decide are.

    `n_gold` of `n_decided` items were. Where in its stretch of 1 / share items each stands is drawn by
    a hash, so that nobody can count them off.
    """
    return n_gold + seeded_fraction("gold", reviewer, n_gold) < (n_decided + 1) * share


def passes_calibration(hits: Sequence[bool], rule: Calibration) -> bool:
    """Whether the last `rule.items` answers to gold items have the share of hits that is asked for."""
    last = hits[-rule.items :]
    return len(last) == rule.items and sum(last) >= rule.hits * rule.items


class DecisionComparison(NamedTuple):
    """A person's decision beside another's, or beside the expert's where it is `gold`."""

    reviewer: str
    decided_at: str
    gold: bool
    same: bool


def compare_with_others(blind: Iterable[tuple[QueueItem, Decision]]) -> list[DecisionComparison]:
    """Each blind decision beside those of others on the same item: the same verdict and label or not.

    Of scores there is none: whether they are near is a matter of `methods/agreement/scores.py`.
    """
    of_item: dict[str, list[tuple[Decision, dict[str, Any]]]] = defaultdict(list)
    for item, decision in blind:
        if item["kind"] != SCORE:
            values = {VERDICT: decision.verdict, **values_of(item, decision)}
            of_item[item["item_id"]].append((decision, values))
    return [
        DecisionComparison(decision.reviewer, decision.decided_at, False, values == others)
        for made in of_item.values()
        for decision, values in made
        for other, others in made
        if other is not decision
    ]


def weeks(comparisons: Iterable[DecisionComparison]) -> list[dict[str, Any]]:
    """By person and week: rows of reviewer, week (its Monday), n_gold, n_hits, n_others, n_same."""
    groups: dict[tuple[str, str], list[DecisionComparison]] = defaultdict(list)
    for comparison in comparisons:
        day = date.fromisoformat(day_of(comparison.decided_at))
        monday = date.fromordinal(day.toordinal() - day.weekday())
        groups[comparison.reviewer, monday.isoformat()].append(comparison)
    return [
        {
            "reviewer": reviewer,
            "week": week,
            "n_gold": sum(each.gold for each in made),
            "n_hits": sum(each.gold and each.same for each in made),
            "n_others": sum(not each.gold for each in made),
            "n_same": sum(each.same and not each.gold for each in made),
        }
        for (reviewer, week), made in sorted(groups.items())
    ]
