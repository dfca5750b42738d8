"""Gold items (annotator quality): items with a known right decision that annotators decide again."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from methods.ids import seeded_fraction
from methods.review.decisions import Decision, QueueItem
from methods.review.kinds import KINDS
from methods.review.overview import day_of, grouped
from methods.review.process import Calibration, ReviewState
from methods.review.ratings import CHOSEN, SCORE, VERDICT, values_of

POINTS = 1
"""A score is right if it differs from the expert's score by at most this many points."""


def expected_of(item: QueueItem, state: ReviewState) -> dict[str, Any] | None:
    """Find the right decision on a queued item: the expert's final decision.

    The verdict is `edit` if the approved content differs from the queued content, whoever edited it.

    Args:
        item: The queued item.
        state: The state of its review.

    Returns:
        {"verdict", "content"}, with the content None for a rejected item; None if no expert has
        decided.
    """
    if state.expert_decision is None or state.status.name not in ("approved", "rejected"):
        return None
    if state.status.name == "rejected":
        return {"verdict": "reject", "content": None}
    same = state.item["content_hash"] == item["content_hash"]
    return {"verdict": "accept" if same else "edit", "content": state.item["content"]}


def is_hit(item: QueueItem, decision: Decision, expected: dict[str, Any]) -> bool:
    """Check whether a decision on a gold item agrees with the expert's decision.

    A chosen category, letter or winner must be the same, and each score within POINTS of the expert's.
    For texts only the verdict must be the same: it counts that an edit is needed, not its words.

    Args:
        item: The gold item.
        decision: The decision.
        expected: The expert's verdict and content (`expected_of`).
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


def is_due(key: str, reviewer: str, n_decided: int, n_gold: int, share: float) -> bool:
    """Check whether a person's next item is a gold item.

    There is one gold item in every 1 / share items, at a position that only people who know the key can
    predict.

    Args:
        key: A text that annotators do not know.
        reviewer: The person.
        n_decided: The number of items that the person has decided.
        n_gold: The number of gold items among these.
        share: The share of gold items, 0 to 1.

    Returns:
        True if a gold item is due.
    """
    return n_gold + seeded_fraction("gold", key, reviewer, n_gold) < (n_decided + 1) * share


def passes_calibration(hits: Sequence[bool], rule: Calibration) -> bool:
    """Check whether enough of the last decisions on gold items are right.

    Args:
        hits: Whether each decision is right, in order.
        rule: The number of items, and the least share of hits.

    Returns:
        True if there are enough decisions and enough hits among the last ones.
    """
    last = hits[-rule.items :]
    return len(last) == rule.items and sum(last) >= rule.hits * rule.items


class DecisionComparison(NamedTuple):
    """The comparison of a person's decision with another person's, or with the expert's for `gold`."""

    reviewer: str
    decided_at: str
    gold: bool
    same: bool


def compare_with_others(blind: Iterable[tuple[QueueItem, Decision]]) -> list[DecisionComparison]:
    """Compare each blind decision with other people's decisions on the same item.

    Scores are not compared; `methods/agreement/scores.py` measures their agreement.

    Args:
        blind: The blind decisions with their items.

    Returns:
        A comparison for each pair of decisions: whether verdict and label are equal.
    """
    of_item: dict[str, list[tuple[Decision, dict[str, Any]]]] = defaultdict(list)
    for item, decision in blind:
        if item["kind"] != SCORE:
            values = {VERDICT: decision.verdict, **values_of(item, decision)}
            of_item[item["item_id"]].append((decision, values))
    return [
        DecisionComparison(decision.reviewer, decision.decided_at, False, values == others)
        for decisions in of_item.values()
        for decision, values in decisions
        for other, others in decisions
        if other is not decision
    ]


def weeks(comparisons: Iterable[DecisionComparison]) -> list[dict[str, Any]]:
    """Count comparisons by person and week.

    Returns:
        Rows of reviewer, week (its Monday), n_gold, n_hits (gold decisions that are right), n_others
        (comparisons with other people) and n_same (equal decisions among these).
    """
    groups = grouped(comparisons, lambda each: (each.reviewer, _monday(each.decided_at)))
    return [
        {
            "reviewer": reviewer,
            "week": week,
            "n_gold": sum(each.gold for each in comparisons),
            "n_hits": sum(each.gold and each.same for each in comparisons),
            "n_others": sum(not each.gold for each in comparisons),
            "n_same": sum(each.same and not each.gold for each in comparisons),
        }
        for (reviewer, week), comparisons in groups.items()
    ]


def _monday(time: str) -> str:
    day = date.fromisoformat(day_of(time))
    return (day - timedelta(days=day.weekday())).isoformat()
