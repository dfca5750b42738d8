"""Which decisions are ratings: what people said of the same content without knowing of each other.

What belongs here: from the review's decisions to who gave which item which label or score. What does
not: the measures of them.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from methods.review import Decision, QueueItem, by_item
from methods.review.process import RuleBook

VERDICT = "verdict"
CHOSEN = {"category": "category", "extraction": "choice"}
"""Kinds in which people choose a label, and the key of the content that has it."""
SCORE = "score"


class Rating(NamedTuple):
    """What one rater gave one item. `cluster` is its image set; `dimension` what was rated: `verdict`,
    the key that was chosen, or a dimension of the scores."""

    kind: str
    dimension: str
    item_id: str
    cluster: str
    rater: str
    value: str | float


def blind(decisions: Iterable[Decision], n_annotators: int) -> list[Decision]:
    """Of one item's decisions on one content: each annotator's last one before they could see others'.

    Round 1 is blind until `n_annotators` have decided; what is decided on the same content after that
    (a rejected item taken up again) is made in knowledge of it. What was skipped is no decision. The
    order is that of the events.
    """
    said: dict[str, Decision] = {}
    for decision in sorted(decisions, key=lambda each: each.event_id or 0):
        if decision.round != 1 or decision.verdict == "skip":
            continue
        said[decision.reviewer] = decision
        if len(said) == n_annotators:
            break
    return list(said.values())


def ratings_of(
    items: Iterable[QueueItem],
    decisions: Iterable[Decision],
    rules: RuleBook,
) -> list[Rating]:
    """Every rating in the blind decisions on what the items say now.

    The rules say how many people decide round 1. What is rejected has a verdict and no label; a score
    item has scores and no verdict, which would always be `edit`.
    """
    decided = by_item(decisions)
    ratings = []
    for item in items:
        on_this = [
            each for each in decided[item["item_id"]] if each.content_hash == item["content_hash"]
        ]
        for decision in blind(on_this, rules.of(item["kind"]).annotators):
            for dimension, value in _values(item, decision).items():
                ratings.append(
                    Rating(
                        item["kind"],
                        dimension,
                        item["item_id"],
                        item.get("set_id") or item["item_id"],
                        decision.reviewer,
                        value,
                    )
                )
    return ratings


def _values(item: QueueItem, decision: Decision) -> dict[str, Any]:
    """What the decision rates, by dimension."""
    content = decision.edits or item["content"]
    if item["kind"] == SCORE:
        if decision.verdict == "reject":
            return {}
        given = content["scores"].items()
        return {name: float(score) for name, score in given if score is not None}
    values = {VERDICT: decision.verdict}
    key = CHOSEN.get(item["kind"])
    if key is not None and decision.verdict != "reject":
        values[key] = content[key]
    return values


def mean_by_item(ratings: Iterable[Rating]) -> dict[str, float]:
    """The mean of the scores of each item."""
    given: dict[str, list[float]] = defaultdict(list)
    for rating in ratings:
        given[rating.item_id].append(float(rating.value))
    return {item_id: sum(scores) / len(scores) for item_id, scores in given.items()}
