"""Ratings for inter-annotator agreement, read from review decisions, and the effort of reviewers.

Only blind decisions on the same content are ratings: decisions of annotators who did not see each
other's.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from methods.review import Decision, QueueItem, by_item
from methods.review.kinds import KINDS
from methods.review.overview import effort_of, grouped
from methods.review.process import RuleBook

VERDICT = "verdict"
PAIR = "pair"
CHOSEN = {"category": "category", "extraction": "choice", PAIR: "winner"}
"""Kinds in which people choose a label, and the key of their content that has it."""
SCORE = "score"
IN_CONTENT = (*CHOSEN, SCORE)
"""Kinds whose content has a rating. Of the other kinds only the verdict is rated."""


class Rating(NamedTuple):
    """The value that one rater gave one item.

    `dimension` is `verdict`, the key of a chosen label, or a dimension of the scores. `cluster` is the
    item's image set, or else the item.
    """

    kind: str
    dimension: str
    item_id: str
    cluster: str
    rater: str
    value: str | float


def blind_decisions(decisions: Iterable[Decision], n_annotators: int) -> list[Decision]:
    """Select the blind decisions on one content of one item: the last one of each annotator.

    Round 1 is blind until `n_annotators` have decided. People who decide later on the same content (the
    rework of a rejected item) see the earlier decisions, so theirs are not blind. Skips are ignored.
    """
    last: dict[str, Decision] = {}
    for decision in sorted(decisions, key=lambda decision: decision.event_id or 0):
        if decision.round != 1 or decision.verdict == "skip":
            continue
        last[decision.reviewer] = decision
        if len(last) == n_annotators:
            break
    return list(last.values())


def ratings_of(
    items: Iterable[QueueItem],
    decisions: Iterable[Decision],
    rules: RuleBook,
) -> list[Rating]:
    """Read the ratings in the blind decisions on the current contents of items.

    A rejection has a verdict and no label. Items that people fill in, such as kind `score`, have no
    verdict, because it would always be `edit`.

    Args:
        items: The items.
        decisions: The decisions.
        rules: The rules of review, with the number of annotators in round 1.
    """
    return [
        Rating(
            item["kind"],
            dimension,
            item["item_id"],
            item.get("set_id") or item["item_id"],
            decision.reviewer,
            value,
        )
        for item, decision in blind_on_current(items, decisions, rules)
        for dimension, value in values_of(item, decision).items()
    ]


def blind_on_current(
    items: Iterable[QueueItem], decisions: Iterable[Decision], rules: RuleBook
) -> Iterator[tuple[QueueItem, Decision]]:
    """List the blind decisions on the current content of items.

    Args:
        items: The queued items.
        decisions: All decisions in the order of events.
        rules: The review rules of each kind.

    Yields:
        The item and the decision.
    """
    decided = by_item(decisions)
    for item in items:
        on_current = [
            decision
            for decision in decided[item["item_id"]]
            if decision.content_hash == item["content_hash"]
        ]
        for decision in blind_decisions(on_current, rules.rules_for(item["kind"]).annotators):
            yield item, decision


def values_of(item: QueueItem, decision: Decision) -> dict[str, Any]:
    """Read the ratings that a decision gives.

    Args:
        item: The item.
        decision: The decision.

    Returns:
        The values by dimension.
    """
    content = decision.edits or item["content"]
    if item["kind"] == SCORE:
        if decision.verdict == "reject":
            return {}
        scores = content["scores"].items()
        return {name: float(score) for name, score in scores if score is not None}
    # Items that people must fill in always have the verdict "edit".
    blank = KINDS[item["kind"]].needs_edit(item["content"])
    values = {} if blank else {VERDICT: decision.verdict}
    key = CHOSEN.get(item["kind"])
    if key is not None and decision.verdict != "reject":
        values[key] = content[key]
    return values


def mean_by_item(ratings: Iterable[Rating]) -> dict[str, float]:
    """Compute the mean score of each item."""
    scores_of: dict[str, list[float]] = defaultdict(list)
    for rating in ratings:
        scores_of[rating.item_id].append(float(rating.value))
    return {item_id: sum(scores) / len(scores) for item_id, scores in scores_of.items()}


def agreed_labels(ratings: Iterable[Rating]) -> dict[str, str]:
    """Return the label of each item on which all raters agree. Other items are left out."""
    labels_of: dict[str, set[str]] = defaultdict(set)
    for rating in ratings:
        labels_of[rating.item_id].add(str(rating.value))
    return {item_id: min(labels) for item_id, labels in labels_of.items() if len(labels) == 1}


def effort_rows(items: Iterable[QueueItem], decisions: Iterable[Decision]) -> list[dict[str, Any]]:
    """Summarize the effort of review, by kind, round and reviewer.

    Every decision on an item of the queue counts, also one on an outdated content.

    Args:
        items: The queued items.
        decisions: The decisions.

    Returns:
        Rows of kind, round, reviewer, n_decisions, n_skipped, median_seconds (over decisions with a
        time, None without any) and reasons (counts of reasons for rejections).
    """
    kind_of = {item["item_id"]: item["kind"] for item in items}
    groups = grouped(
        [decision for decision in decisions if decision.item_id in kind_of],
        lambda each: (kind_of[each.item_id], each.round, each.reviewer),
    )
    return [
        {
            "kind": kind,
            "round": round,
            "reviewer": reviewer,
            **effort_of(efforts),
            "reasons": Counter(
                each.reason for each in efforts if each.verdict == "reject" and each.reason
            ),
        }
        for (kind, round, reviewer), efforts in groups.items()
    ]
