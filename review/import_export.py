"""Offline review: export of items that a person may decide on, and import of the decisions.

An import adds decisions and never overwrites one. To change an earlier decision, use the app.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from filelock import FileLock

from methods.ids import canonical_json, content_id
from methods.review import (
    Decision,
    QueueItem,
    StaleDecision,
    by_item,
    check_decision,
    source_hash_of,
)
from methods.review.decisions import moment
from methods.review.process import ReviewState, review_state
from resources.review.store import ReviewStore
from review.item_texts import item_texts, with_changed_texts

KEYS_TO_FILL = ("verdict", "edits", "changes", "reason", "note")
"""Keys that a person fills in; a record in which all of them are empty is left open."""


@dataclass(frozen=True)
class Record:
    """One record of an imported file.

    Attributes:
        place: Its position in the file, such as `line 3`.
        values: None if the record cannot be read. Keys: item_id, content_hash, round and KEYS_TO_FILL;
            optionally seconds and decided_at, and the exported `content` or texts (`shown`) to detect
            changes in place. `changes` has texts by name (`review/item_texts.py`) instead of edits.
        fault: The reason why the record cannot be read.
    """

    place: str
    values: dict[str, Any] | None = None
    fault: str | None = None


@dataclass(frozen=True)
class ImportResult:
    """The result of an import: numbers of new decisions, of known decisions and of open records.

    `problems` has an error message for each invalid record.
    """

    added: int
    n_known: int
    problems: list[str]
    left_open: int = 0


def items_to_export(
    items: Iterable[QueueItem],
    store: ReviewStore,
    round: int,
    reviewer: str | None = None,
    early: bool = False,
) -> list[QueueItem]:
    """List the items that need a decision, with the content and hash to decide on.

    Args:
        items: The queued items.
        store: The review store.
        round: The round.
        reviewer: Only items that this person may decide; None for all.
        early: Whether round 2 includes items whose round 1 is open. If a release does not require
            decisions, an expert can decide before the annotators.
    """
    decisions, rules = by_item(store.decisions()), store.rules()
    chosen = []
    for item in items:
        state = review_state(item, decisions[item["item_id"]], rules.rules_for(item["kind"]))
        due = state.status.round == round and state.status.people_needed > 0
        ahead = early and round == 2 and state.status.name == "round_1"
        if (due or ahead) and reviewer not in state.excluded:
            chosen.append(state.item)
    return chosen


def import_records(
    items: Iterable[QueueItem],
    store: ReviewStore,
    records: Iterable[Record],
    reviewer: str,
    round: int,
) -> ImportResult:
    """Store the decisions in records. An invalid record is left out, with one sentence that says why.

    To import the same records again adds nothing. Conflicts are not stored: a decision on outdated
    content, two different decisions on one item, or a decision that differs from an earlier one of the
    same person.

    Args:
        items: The queued items.
        store: The review store.
        records: The records.
        reviewer: The person.
        round: The round.

    Returns:
        The counts, and the messages of invalid records.
    """
    queue = {item["item_id"]: item for item in items}
    # Serialize imports, so that each finds the decisions of earlier ones.
    with FileLock(f"{store.path}.import.lock"):
        decided, rules = by_item(store.decisions()), store.rules()
        holders: dict[str, set[str]] = defaultdict(set)
        for hold in store.holds():
            if hold.annotator != reviewer and hold.round == round:
                holders[hold.item_id].add(hold.annotator)

        @cache
        def state_of(item_id: str) -> tuple[ReviewState, dict[str, dict[str, Any]]]:
            item, before = queue[item_id], decided[item_id]
            state = review_state(item, before, rules.rules_for(item["kind"]))
            return state, _contents_by_hash(item, before)

        current_time = datetime.now(UTC)
        valid: list[tuple[int, str, Decision]] = []
        problems: list[tuple[int, str]] = []
        left_open = n_known = 0
        for number, record in enumerate(records):
            try:
                values = _values(record)
                item = _item_of(values, queue)
                before = decided[item["item_id"]]
                state, contents = state_of(item["item_id"])
                decided_on = _item_decided_on(values, state, contents)
                _check_record(values, decided_on, round)
                if not any(values.get(key) for key in KEYS_TO_FILL):
                    left_open += 1
                    continue
                # Only decisions on the current content are stored, and it is made from the queued one.
                is_current = decided_on["content_hash"] == state.item["content_hash"]
                queued = item["content"] if is_current else None
                decision = _decision(values, decided_on, queued, reviewer, round, current_time)
                if _is_known(decision, before):
                    n_known += 1
                    continue
                _check_may_decide(decision, before, state)
                _check_not_open(holders[item["item_id"]], state)
                valid.append((number, record.place, decision))
            except StaleDecision as conflict:
                problems.append((number, f"{record.place}: conflict: {conflict}"))
            except (ValueError, RecursionError) as error:
                problems.append((number, f"{record.place}: {error}"))
        unambiguous, conflicts = _without_conflicts(valid)
        added, known_by_now = store.append(unambiguous)
        reports = [problem for _, problem in sorted([*problems, *conflicts])]
        return ImportResult(added, n_known + known_by_now, reports, left_open)


def _values(record: Record) -> dict[str, Any]:
    if record.values is None:
        raise ValueError(record.fault or "nothing could be read.")
    for key in ("shown", "changes"):
        texts = record.values.get(key, {})
        if not all(isinstance(text, str) for pair in texts.items() for text in pair):
            raise ValueError(
                f"{key} has a name or a value that is not a text: export the item again."
            )
    return record.values


def _item_of(values: dict[str, Any], queue: dict[str, QueueItem]) -> QueueItem:
    item_id = values.get("item_id")
    if not isinstance(item_id, str) or item_id not in queue:
        raise ValueError(f"item {str(item_id)[:80]!r} is not in the queue.")
    return queue[item_id]


def _contents_by_hash(item: QueueItem, before: Sequence[Decision]) -> dict[str, dict[str, Any]]:
    """Return the queued content of an item and all edited ones, by their hashes."""
    edited = [decision.edits for decision in before if decision.edits is not None]
    return {content_id(content): content for content in (item["content"], *edited)}


def _item_decided_on(
    values: dict[str, Any], state: ReviewState, contents: dict[str, dict[str, Any]]
) -> QueueItem:
    """Return the item with the content that the record names, or else with its current content."""
    named = values.get("content_hash")
    if isinstance(named, str) and named in contents:
        return {**state.item, "content": contents[named], "content_hash": named}
    return state.item


def _check_record(values: dict[str, Any], item: QueueItem, round: int) -> None:
    """Raise ValueError for errors that only occur in files, and not in the app."""
    if values.get("round", round) != round:
        raise ValueError(
            f"exported for round {str(values['round'])[:80]}, imported for round {round}."
        )
    if values.get("content_hash") != item["content_hash"]:
        return
    if values.get("content", item["content"]) != item["content"]:
        raise ValueError("content was changed in place: put the changed content in edits.")
    texts = _texts(item)
    for name, text in values.get("shown", {}).items():
        if name in texts and not _same(text, texts[name]):
            raise ValueError(f"the text of {name} was changed where it was only to be read.")


def _decision(
    values: dict[str, Any],
    item: QueueItem,
    queued: dict[str, Any] | None,
    reviewer: str,
    round: int,
    current_time: datetime,
) -> Decision:
    stated = values | {"reviewer": reviewer, "round": round}
    stated["decided_at"] = values.get("decided_at") or current_time.isoformat(timespec="seconds")
    if "changes" in values and values.get("content_hash") == item["content_hash"]:
        stated["edits"] = _edits(values["changes"], item)
        if values.get("verdict") == "edit" and stated["edits"] is None:
            raise ValueError("the verdict is edit and no text was changed: it would be accept.")
    decision = check_decision(stated, item, queued)
    moment(decision.decided_at, current_time)
    # The source hash leaves out the time of the import, so that a second import adds nothing.
    return replace(
        decision,
        source_hash=source_hash_of(replace(decision, decided_at=values.get("decided_at") or "")),
    )


def _edits(changes: dict[str, str], item: QueueItem) -> dict[str, Any] | None:
    texts = _texts(item)
    changed = {
        name: text
        for name, text in changes.items()
        if name not in texts or not _same(text, texts[name])
    }
    return with_changed_texts(item["kind"], item["content"], changed) if changed else None


def _texts(item: QueueItem) -> dict[str, str]:
    return {text.name: text.text for text in item_texts(item["kind"], item["content"])}


def _same(text: str, other: str) -> bool:
    # Programs write different line breaks, which do not count as a change.
    return text.splitlines() == other.splitlines()


def _is_known(decision: Decision, before: Sequence[Decision]) -> bool:
    return any(_outcome(earlier) == _outcome(decision) for earlier in _of_same(decision, before))


def _check_not_open(holders: set[str], state: ReviewState) -> None:
    """Raise ValueError if the people who have the item open in the app are all that it needs."""
    if holders and len(holders) >= state.status.people_needed:
        raise ValueError(
            f"item {state.item['item_id']} is open in the app by {', '.join(sorted(holders))}: import "
            "the file again when that person has decided it or left it."
        )


def _check_may_decide(decision: Decision, before: Sequence[Decision], state: ReviewState) -> None:
    """Raise StaleDecision or ValueError if this person may not make this decision now."""
    item_id, name, round = decision.item_id, decision.reviewer, decision.round
    current, status = state.item["content_hash"], state.status
    reworks = status.name == "to_rework" and round == 1 and decision.content_hash == current
    own = [earlier for earlier in _of_same(decision, before) if earlier.verdict != "skip"]
    if own and not reworks:
        raise StaleDecision(
            f"{name} decided item {item_id} otherwise before ({own[-1].verdict}, "
            f"{own[-1].decided_at}), and that decision stays."
        )
    if decision.content_hash != current:
        raise StaleDecision(
            f"item {item_id} was decided on at content {decision.content_hash} and its content is "
            f"{current} now: export it again."
        )
    ahead = round == 2 and status.name in ("round_1", "not_sampled")
    if not ahead and (status.round != round or status.people_needed == 0):
        others = sorted({earlier.reviewer for earlier in state.counted})
        raise StaleDecision(
            f"item {item_id} needs no decision in round {round} any more: "
            f"decided by {', '.join(others)}."
        )
    other = [earlier for earlier in before if earlier.round != round and earlier.verdict != "skip"]
    if name in state.excluded and name in {earlier.reviewer for earlier in other}:
        raise ValueError(f"{name} decided item {item_id} in the other round: somebody else must.")
    if reworks and decision.verdict == "accept":
        raise ValueError(f"item {item_id} was rejected by an expert: edit it, or reject it.")


def _of_same(decision: Decision, before: Sequence[Decision]) -> list[Decision]:
    """Return earlier decisions of the same person on the same content in the same round."""
    keys = ("content_hash", "round", "reviewer")
    return [
        earlier
        for earlier in before
        if all(getattr(earlier, k) == getattr(decision, k) for k in keys)
    ]


def _outcome(decision: Decision) -> str:
    return canonical_json([decision.verdict, decision.edits, decision.reason, decision.note])


def _without_conflicts(
    valid: Sequence[tuple[int, str, Decision]],
) -> tuple[list[Decision], list[tuple[int, str]]]:
    """Return a decision for each item without contradictions, and a message for each other record."""
    by_outcome: dict[str, dict[str, Decision]] = {}
    for _, _, decision in valid:
        by_outcome.setdefault(decision.item_id, {}).setdefault(_outcome(decision), decision)
    unambiguous = [
        next(iter(decisions.values())) for decisions in by_outcome.values() if len(decisions) == 1
    ]
    conflicts = [
        (number, f"{place}: conflict: item {decision.item_id} has two different decisions.")
        for number, place, decision in valid
        if len(by_outcome[decision.item_id]) > 1
    ]
    return unambiguous, conflicts
