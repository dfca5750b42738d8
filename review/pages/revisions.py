"""Decisions on an item, each with its changes word by word."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from methods.ids import content_id
from methods.review.decisions import Decision, QueueItem
from methods.review.differences import Difference, differences


@dataclass(frozen=True)
class Revision:
    """A decision and the texts that it changed. `outdated`: it was made on a content that is neither
    the item's queued content nor an edit of it."""

    decision: Decision
    changes: list[Difference]
    outdated: bool


def revisions(item: QueueItem, decisions: Iterable[Decision]) -> list[Revision]:
    """The decisions in their order, each compared with the content that it was made on."""
    decisions = list(decisions)
    contents = {item["content_hash"]: item["content"]} | {
        content_id(decision.edits): decision.edits
        for decision in decisions
        if decision.edits is not None
    }
    return [
        Revision(
            decision,
            _changes(item["kind"], contents.get(decision.content_hash), decision.edits),
            decision.content_hash not in contents,
        )
        for decision in decisions
    ]


def _changes(
    kind: str, before: dict[str, Any] | None, after: dict[str, Any] | None
) -> list[Difference]:
    if before is None or after is None:
        return []
    return [
        (label, pieces)
        for label, pieces in differences(kind, before, after)
        if any(op != "same" for op, _ in pieces)
    ]
