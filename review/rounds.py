"""A round outside the app: what goes out to a person, and what comes back, whichever the form.

What belongs here: which items a person is given, and which of the decisions that came back are taken,
known already or at fault. What does not: how they are written down (`jsonl.py`, `spreadsheet.py`,
`label_studio/`), and what makes a decision valid (`methods/review/decisions.py`).

What comes back adds and never overwrites: whoever decided something stands by it until they or an
expert say otherwise in the app.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
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
from methods.review.process import Course, course_of
from resources.review.store import ReviewStore
from review.fields import fields_of, with_changes

TO_FILL = ("verdict", "edits", "changes", "reason", "note")
"""What a person fills in; a record where all of it is empty stays open."""


@dataclass(frozen=True)
class Record:
    """One thing that came back: where it stood (`line 3`), and what it says.

    `said` has item_id, content_hash, round and what of TO_FILL was filled, and may have seconds and
    decided_at. `changes` are texts by their names (`review/fields.py`), those that are as they were
    among them, and a way to give edits. `content` or `shown` (texts by name) is what was to be read
    and left alone. Instead of `said`, `fault` says in one sentence why nothing could be read.
    """

    place: str
    said: dict[str, Any] | None = None
    fault: str | None = None


@dataclass(frozen=True)
class ImportResult:
    """What an import did: events added, events known already, records left open, and at fault."""

    added: int
    known: int
    problems: list[str]
    untouched: int = 0


def awaiting(
    items: Iterable[QueueItem],
    store: ReviewStore,
    round: int,
    reviewer: str | None = None,
    early: bool = False,
) -> list[QueueItem]:
    """The items that await a person in `round`, with content and hash as they stand for it.

    With a reviewer, those that this person may decide. Early, round 2 also has what round 1 has not
    decided: a release that requires nobody's decision needs no annotator before an expert.
    """
    decisions, rules = by_item(store.decisions()), store.rules()
    given = []
    for item in items:
        course = course_of(item, decisions[item["item_id"]], rules.of(item["kind"]))
        due = course.stage.round == round and course.stage.people > 0
        ahead = early and round == 2 and course.stage.status == "round_1"
        if (due or ahead) and reviewer not in course.barred:
            given.append(course.item)
    return given


def take_in(
    items: Iterable[QueueItem],
    store: ReviewStore,
    records: Iterable[Record],
    reviewer: str,
    round: int,
) -> ImportResult:
    """Store what was decided; a record at fault is reported in one sentence and left out.

    The same again adds nothing. A decision on a content that no longer stands, two that decide one
    item differently, and one that this person decided otherwise before are conflicts: none of them
    is taken.
    """
    # Of two imports at once the second must find what the first one stored.
    with FileLock(f"{store.path}.import.lock"):
        return _take_in({item["item_id"]: item for item in items}, store, records, reviewer, round)


def _take_in(
    queue: dict[str, QueueItem],
    store: ReviewStore,
    records: Iterable[Record],
    reviewer: str,
    round: int,
) -> ImportResult:
    decided, rules = by_item(store.decisions()), store.rules()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    taken: list[tuple[int, str, Decision]] = []
    problems: list[tuple[int, str]] = []
    untouched = known = 0
    for number, record in enumerate(records):
        try:
            said = _said(record)
            item = _item_of(said, queue)
            before = decided[item["item_id"]]
            course = course_of(item, before, rules.of(item["kind"]))
            current = _as_it_was(said, course, before, item)
            _check_file(said, current, round)
            if not any(said.get(field) for field in TO_FILL):
                untouched += 1
                continue
            decision = _decision(said, current, reviewer, round, now)
            if _known(decision, before):
                known += 1
                continue
            _check_turn(decision, before, course)
            taken.append((number, record.place, decision))
        except StaleDecision as conflict:
            problems.append((number, f"{record.place}: conflict: {conflict}"))
        except (ValueError, RecursionError) as error:
            problems.append((number, f"{record.place}: {error}"))
    agreed, conflicts = _without_conflicts(taken)
    added, known_by_now = store.append(agreed)
    reports = [problem for _, problem in sorted([*problems, *conflicts])]
    return ImportResult(added, known + known_by_now, reports, untouched)


def _said(record: Record) -> dict[str, Any]:
    if record.said is None:
        raise ValueError(record.fault or "nothing could be read.")
    return record.said


def _item_of(said: dict[str, Any], queue: dict[str, QueueItem]) -> QueueItem:
    item_id = said.get("item_id")
    if not isinstance(item_id, str) or item_id not in queue:
        raise ValueError(f"item {str(item_id)[:80]!r} is not in the queue.")
    return queue[item_id]


def _as_it_was(
    said: dict[str, Any], course: Course, before: Sequence[Decision], item: QueueItem
) -> QueueItem:
    """The item with the content that was decided on, if it has ever stood; else as it stands now.

    What was decided on an earlier content may be what is stored already: it is read as it was meant.
    """
    edited = [each.edits for each in before if each.edits is not None]
    for content in (item["content"], *edited):
        if content_id(content) == said.get("content_hash"):
            return {**item, "content": content, "content_hash": content_id(content)}
    return course.item


def _check_file(said: dict[str, Any], current: QueueItem, round: int) -> None:
    """Faults of files, which a decision made in an app cannot have."""
    if said.get("round", round) != round:
        raise ValueError(
            f"exported for round {str(said['round'])[:80]}, imported for round {round}."
        )
    if said.get("content_hash") != current["content_hash"]:
        return
    if said.get("content", current["content"]) != current["content"]:
        raise ValueError("content was changed in place: put the changed content in edits.")
    texts = _texts(current)
    for name, text in said.get("shown", {}).items():
        if name in texts and not _same(text, texts[name]):
            raise ValueError(f"the text of {name} was changed where it was only to be read.")


def _decision(
    said: dict[str, Any], current: QueueItem, reviewer: str, round: int, now: str
) -> Decision:
    stated = said | {"reviewer": reviewer, "round": round}
    stated["decided_at"] = said.get("decided_at") or now
    if "changes" in said and said.get("content_hash") == current["content_hash"]:
        stated["edits"] = _edits(said["changes"], current)
        if said.get("verdict") == "edit" and stated["edits"] is None:
            raise ValueError("the verdict is edit and no text is another one: it would be accept.")
    decision = check_decision(stated, current)
    # The time of the import is no part of what was said: else a second import would say it anew.
    return replace(
        decision,
        source_hash=source_hash_of(replace(decision, decided_at=said.get("decided_at") or "")),
    )


def _edits(changes: dict[str, str], current: QueueItem) -> dict[str, Any] | None:
    texts = _texts(current)
    real = {
        name: text
        for name, text in changes.items()
        if name not in texts or not _same(text, texts[name])
    }
    return with_changes(current["kind"], current["content"], real) if real else None


def _texts(item: QueueItem) -> dict[str, str]:
    return {field.name: field.text for field in fields_of(item["kind"], item["content"])}


def _same(one: str, other: str) -> bool:
    # Programs write line breaks their own way; nobody changed anything by that.
    return one.splitlines() == other.splitlines()


def _known(decision: Decision, before: Sequence[Decision]) -> bool:
    return any(_outcome(each) == _outcome(decision) for each in _of_same(decision, before))


def _check_turn(decision: Decision, before: Sequence[Decision], course: Course) -> None:
    """Whether the decision is this person's to make now. Raises StaleDecision, ValueError."""
    item_id, name, round = decision.item_id, decision.reviewer, decision.round
    current, stage = course.item["content_hash"], course.stage
    reworks = stage.status == "to_rework" and round == 1 and decision.content_hash == current
    mine = [each for each in _of_same(decision, before) if each.verdict != "skip"]
    if mine and not reworks:
        raise StaleDecision(
            f"{name} decided item {item_id} otherwise before ({mine[-1].verdict}, "
            f"{mine[-1].decided_at}), which stands."
        )
    if decision.content_hash != current:
        raise StaleDecision(
            f"item {item_id} was decided on at content {decision.content_hash} and stands at "
            f"{current} now: export it again."
        )
    ahead = round == 2 and stage.status in ("round_1", "not_sampled")
    if not ahead and (stage.round != round or stage.people == 0):
        others = sorted({each.reviewer for each in course.counted})
        raise StaleDecision(
            f"item {item_id} no longer awaits round {round}: decided by {', '.join(others)}."
        )
    other = [each for each in before if each.round != round and each.verdict != "skip"]
    if name in course.barred and name in {each.reviewer for each in other}:
        raise ValueError(f"{name} decided item {item_id} in the other round: somebody else must.")
    if reworks and decision.verdict == "accept":
        raise ValueError(f"item {item_id} was rejected by an expert: edit it, or reject it.")


def _of_same(decision: Decision, before: Sequence[Decision]) -> list[Decision]:
    """What the same person decided about the same content in the same round."""
    keys = ("content_hash", "round", "reviewer")
    return [each for each in before if all(getattr(each, k) == getattr(decision, k) for k in keys)]


def _outcome(decision: Decision) -> str:
    return canonical_json([decision.verdict, decision.edits, decision.reason, decision.note])


def _without_conflicts(
    taken: Sequence[tuple[int, str, Decision]],
) -> tuple[list[Decision], list[tuple[int, str]]]:
    """One decision for each item that is decided one way, and a report for every other record."""
    ways: dict[str, dict[str, Decision]] = {}
    for _, _, decision in taken:
        ways.setdefault(decision.item_id, {}).setdefault(_outcome(decision), decision)
    agreed = [next(iter(way.values())) for way in ways.values() if len(way) == 1]
    conflicts = [
        (number, f"{place}: conflict: item {decision.item_id} is decided in another way, too.")
        for number, place, decision in taken
        if len(ways[decision.item_id]) > 1
    ]
    return agreed, conflicts
