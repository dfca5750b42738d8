"""The revision history of an item: decisions with word-by-word differences."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from methods.ids import content_id
from methods.review.decisions import Decision, QueueItem
from methods.review.differences import Difference, differences
from methods.review.process import ReviewState


@dataclass(frozen=True)
class Revision:
    """A decision and the texts that it changed. `outdated`: it was made on content that is neither the
    item's queued content nor an edit of it."""

    decision: Decision
    changes: list[Difference]
    outdated: bool


@dataclass(frozen=True)
class ContentVersion:
    """A content version that an expert can choose. `by` names its annotators; empty for the queued
    version.
    """

    by: str
    content: dict[str, Any]


def versions_of(queued: QueueItem, state: ReviewState) -> list[ContentVersion]:
    """List the different contents between which an expert decides.

    Args:
        queued: The queued item.
        state: The state of its review.

    Returns:
        The contents of the annotators in their order, then the content on which they decided. A
        rejection adds none.
    """
    contents = _contents(queued, state.counted)
    versions: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for decision in state.annotator_decisions:
        content = contents.get(decision.content_hash) if decision.edits is None else decision.edits
        if content is not None and decision.verdict != "reject":
            versions.setdefault(content_id(content), (content, []))[1].append(decision.reviewer)
    for decision in state.annotator_decisions[:1]:
        if (before := contents.get(decision.content_hash)) is not None:
            versions.setdefault(decision.content_hash, (before, []))
    return [ContentVersion(", ".join(names), content) for content, names in versions.values()]


def between(kind: str, versions: list[ContentVersion]) -> list[Difference]:
    """Compare the versions of two annotators word by word.

    Args:
        kind: The kind of item.
        versions: The versions.

    Returns:
        The differences; empty unless both edited.
    """
    match versions:
        # The third version is the original, which is separate only if both annotators edited it.
        case [first, second, _]:
            return _changes(kind, first.content, second.content)
    return []


def revisions(item: QueueItem, decisions: Iterable[Decision]) -> list[Revision]:
    """List decisions, each compared with the content on which it was made.

    Args:
        item: The queued item.
        decisions: The decisions in order.

    Returns:
        The decisions with their changes.
    """
    decisions = list(decisions)
    contents = _contents(item, decisions)
    return [
        Revision(
            decision,
            _changes(item["kind"], contents.get(decision.content_hash), decision.edits),
            decision.content_hash not in contents,
        )
        for decision in decisions
    ]


def _contents(item: QueueItem, decisions: Iterable[Decision]) -> dict[str, dict[str, Any]]:
    """The queued content and its edits, by their hashes."""
    edits = [decision.edits for decision in decisions if decision.edits is not None]
    return {item["content_hash"]: item["content"]} | {content_id(edit): edit for edit in edits}


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
