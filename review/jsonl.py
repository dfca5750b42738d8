"""Review by file: a JSONL file of what awaits a decision goes out, and comes back filled in.

A person fills `verdict` (accept, edit, reject) and what it needs: `edits`, the whole content as it
should be, or a `reason`; lines left empty stay open. What belongs here: the round trip and its
reports. What does not: what makes a decision valid (`methods/review.py`).
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from methods.ids import content_id
from methods.review import (
    Decision,
    Policy,
    QueueItem,
    StaleDecision,
    awaits,
    by_item,
    check_decision,
    source_hash_of,
    standing,
)
from resources.review_store import ReviewStore

FIELDS_TO_FILL = ("verdict", "edits", "reason", "note")


@dataclass(frozen=True)
class ImportResult:
    """What an import did: events added, events known already, lines left open, lines at fault."""

    added: int
    known: int
    problems: list[str]
    untouched: int = 0


def export_items(
    items: Iterable[QueueItem],
    store: ReviewStore,
    round: int,
    out: Path,
    policy: Policy = "require",
) -> int:
    """Write one line for each item that awaits a person in `round`; returns their number.

    Content and hash are as they stand for that round. Under policy `require`, round 2 exports what
    round 1 has decided. Raises FileExistsError: the file there may be one that somebody has filled.
    """
    decisions = by_item(store.decisions())
    lines = [
        json.dumps(
            _line(standing(item, decisions[item["item_id"]], round), round), ensure_ascii=False
        )
        for item in items
        if awaits(item, decisions[item["item_id"]], round, policy)
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("x", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    return len(lines)


def import_decisions(
    items: Iterable[QueueItem], store: ReviewStore, path: Path, reviewer: str, round: int
) -> ImportResult:
    """Store the decisions of a file that came back; a line at fault is reported and left out.

    Importing a file again adds nothing. A line about a content that no longer stands, or lines
    that decide one item differently, are conflicts: none of them is taken, nothing is overwritten.
    """
    queue = {item["item_id"]: item for item in items}
    decisions = by_item(store.decisions())
    now = datetime.now(UTC).isoformat(timespec="seconds")
    taken: list[tuple[int, Decision]] = []
    problems: list[tuple[int, str]] = []
    untouched = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if not raw.strip():
                continue
            try:
                record = _parse(raw)
                item = _item_of(record, queue)
                current = standing(item, decisions[item["item_id"]], round)
                _check_line(record, current, round)
                if not any(record.get(field) for field in FIELDS_TO_FILL):
                    untouched += 1
                    continue
                taken.append((number, _decide(record, current, reviewer, round, now)))
            except StaleDecision as conflict:
                problems.append((number, f"conflict: {conflict}"))
            except (ValueError, RecursionError) as error:
                problems.append((number, str(error)))
    agreed, conflicts = _without_conflicts(taken)
    added, known = store.append(agreed)
    reports = [f"line {number}: {problem}" for number, problem in sorted(problems + conflicts)]
    return ImportResult(added, known, reports, untouched)


def _line(item: QueueItem, round: int) -> dict[str, Any]:
    """An exported line: what to judge, where to look, and the fields to fill."""
    where: dict[str, Any] = {key: item[key] for key in ("image_paths", "page_urls") if key in item}
    return {
        "item_id": item["item_id"],
        "content_hash": item["content_hash"],
        "kind": item["kind"],
        "round": round,
        "image_ids": item["image_ids"],
        **where,
        "content": item["content"],
        **dict.fromkeys(FIELDS_TO_FILL),
    }


def _parse(raw: bytes) -> dict[str, Any]:
    # Editors on Windows put a byte order mark at the head of the file.
    try:
        record = json.loads(raw.decode("utf-8-sig"))
    except ValueError as error:
        raise ValueError(f"not JSON ({error}).") from None
    if type(record) is not dict:
        raise ValueError("not a JSON object.")
    return record


def _item_of(record: dict[str, Any], queue: dict[str, QueueItem]) -> QueueItem:
    item_id = record.get("item_id")
    if not isinstance(item_id, str) or item_id not in queue:
        raise ValueError(f"item {item_id!r} is not in the queue.")
    return queue[item_id]


def _check_line(record: dict[str, Any], current: QueueItem, round: int) -> None:
    """Faults of files, which a decision made in an app cannot have."""
    if record.get("round", round) != round:
        raise ValueError(f"exported for round {record['round']}, imported for round {round}.")
    if record.get("content_hash") != current["content_hash"]:
        return
    if record.get("content", current["content"]) != current["content"]:
        raise ValueError("content was changed in place: put the changed content in edits.")


def _decide(
    record: dict[str, Any], current: QueueItem, reviewer: str, round: int, now: str
) -> Decision:
    said_at = record.get("decided_at")
    decision = check_decision(
        record | {"reviewer": reviewer, "round": round, "decided_at": said_at or now}, current
    )
    # The time of the import is no part of what was said: else a second import would say it anew.
    return replace(
        decision, source_hash=source_hash_of(replace(decision, decided_at=said_at or ""))
    )


def _without_conflicts(
    taken: Sequence[tuple[int, Decision]],
) -> tuple[list[Decision], list[tuple[int, str]]]:
    """Decisions of items the file decides one way, and a report for every line of the others."""
    outcomes: dict[str, set[str]] = {}
    for _, decision in taken:
        outcome = content_id(decision.verdict, decision.edits)
        outcomes.setdefault(decision.item_id, set()).add(outcome)
    agreed = [decision for _, decision in taken if len(outcomes[decision.item_id]) == 1]
    conflicts = [
        (number, f"conflict: item {decision.item_id} is decided differently on another line.")
        for number, decision in taken
        if len(outcomes[decision.item_id]) > 1
    ]
    return agreed, conflicts
