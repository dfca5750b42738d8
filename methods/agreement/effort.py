"""The effort of review: how many decisions, how long each took, and the reasons for rejections."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from statistics import median
from typing import Any

from methods.review import Decision, QueueItem


def effort_rows(items: Iterable[QueueItem], decisions: Iterable[Decision]) -> list[dict[str, Any]]:
    """Rows of kind, round, reviewer, n_decisions, n_skipped, median_seconds, reasons.

    Every decision on an item of the queue counts, also one on an outdated content.
    `median_seconds` is over the decisions with a time, None where none has one; `reasons` counts the
    reasons for rejections.
    """
    kind_of = {item["item_id"]: item["kind"] for item in items}
    groups: dict[tuple[str, int, str], list[Decision]] = defaultdict(list)
    for decision in decisions:
        if decision.item_id in kind_of:
            key = kind_of[decision.item_id], decision.round, decision.reviewer
            groups[key].append(decision)
    rows = []
    for (kind, round, reviewer), made in sorted(groups.items()):
        decided = [each for each in made if each.verdict != "skip"]
        seconds = [each.seconds for each in decided if each.seconds is not None]
        rows.append(
            {
                "kind": kind,
                "round": round,
                "reviewer": reviewer,
                "n_decisions": len(decided),
                "n_skipped": len(made) - len(decided),
                "median_seconds": median(seconds) if seconds else None,
                "reasons": Counter(
                    each.reason for each in decided if each.verdict == "reject" and each.reason
                ),
            }
        )
    return rows
