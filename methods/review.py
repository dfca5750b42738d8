"""Human review as a pure function: an item, what people decided about it, and what follows.

Two rounds, as in ConvBench and MMDU: a reviewer, then an expert who sees what the reviewer left.
What belongs here: what a decision is, when it is valid and how decisions resolve to a final
content. What does not: where decisions are kept (`resources/review_store.py`) and how people make
them (`review/`).
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict, get_args

from methods.ids import content_id
from methods.messages import IMAGE_HERE

Verdict = Literal["accept", "edit", "reject"]
Status = Literal["approved", "rejected", "pending"]
Policy = Literal["accept", "require"]
"""What a round without a person's decision means: taken as accepted, or awaited."""

VERDICTS: tuple[str, ...] = get_args(Verdict)
POLICIES: tuple[str, ...] = get_args(Policy)
ROUNDS = (1, 2)
"""1 is the reviewer's round, 2 the expert's."""

POLICY_PREFIX = "policy:"
EDITABLE = {"dialogue": "turns", "rewrite": "rewrite"}
"""The one key of the content that people may change; the rest is what it was made from."""

_IMAGE_REFERENCE = re.compile(r"<image-(\d+)>", re.IGNORECASE)


class QueueItem(TypedDict):
    """One thing to review; `content_hash` is `content_id(content)`.

    The content of a dialogue is {"image_ids": [...], "turns": [{"question", "answer", ...}]}, of a
    rewrite {"original": str, "rewrite": str}. Paths and pages are there to help people, if given.
    """

    item_id: str
    kind: str
    content: dict[str, Any]
    content_hash: str
    image_ids: list[str]
    image_paths: NotRequired[list[str]]
    page_urls: NotRequired[list[str]]


@dataclass(frozen=True)
class Decision:
    """What one person decided in one round about one exact content.

    `edits` is the whole new content; `seconds` the time spent; `decided_at` ISO 8601; `event_id`
    the store's, None until stored. `source_hash` says by what a record is known when it comes
    again; None: by everything in it, the time included (`source_hash_of`).
    """

    item_id: str
    content_hash: str
    round: int
    reviewer: str
    verdict: Verdict
    edits: dict[str, Any] | None
    reason: str | None
    note: str | None
    seconds: float | None
    decided_at: str
    event_id: int | None = None
    source_hash: str | None = None


@dataclass(frozen=True)
class Resolution:
    """Where an item stands: its final content, that content's hash and who stands behind it.

    `revision` is 0 as generated and one more for each round that edited. `reviewers` has one name
    for each round that was decided, in order; a round filled by policy is `policy:accept`.
    """

    item_id: str
    content_hash: str
    status: Status
    content: dict[str, Any]
    revision: int
    reviewers: tuple[str, ...]
    reason: str | None


class StaleDecision(ValueError):
    """The decision is about a content that is no longer the one under review."""


def source_hash_of(decision: Decision) -> str:
    """Content id of a decision: of all it says, not of its place in the store."""
    return content_id(asdict(decision) | {"event_id": None, "source_hash": None})


def by_item(decisions: Iterable[Decision]) -> dict[str, list[Decision]]:
    """Decisions of each item, in the order given; an item without any gives an empty list."""
    groups: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        groups[decision.item_id].append(decision)
    return groups


def latest(item: QueueItem, decisions: Iterable[Decision], round: int) -> Decision | None:
    """The round's last decision on exactly this content, or None.

    The order is that of the events, not of the clocks people's machines show; what is not stored
    yet comes after what is.
    """
    key = (item["item_id"], item["content_hash"], round)
    of_round = [each for each in decisions if (each.item_id, each.content_hash, each.round) == key]
    of_round.sort(key=lambda decision: (decision.event_id is None, decision.event_id or 0))
    return of_round[-1] if of_round else None


def standing(item: QueueItem, decisions: Iterable[Decision], round: int) -> QueueItem:
    """The item with its content and hash as `round` finds them: after the edits of earlier ones."""
    decisions = list(decisions)
    for earlier in ROUNDS[: ROUNDS.index(round)]:
        item = _after(item, latest(item, decisions, earlier))
    return item


def resolve(item: QueueItem, decisions: Iterable[Decision], policy: Policy) -> Resolution:
    """What the decisions make of the item.

    A decision counts only for the content it was made on, and the last one of a round wins. A
    rejection in either round rejects, whatever the policy; two rounds accepted or edited approve;
    a round nobody decided is accepted (policy `accept`) or leaves the item pending (`require`).
    """
    if policy not in POLICIES:
        raise ValueError(f"The review policy is one of {', '.join(POLICIES)}, not {policy!r}.")
    decisions = list(decisions)
    status: Status = "approved"
    revision, reviewers, reason = 0, [], None
    for round in ROUNDS:
        decision = latest(item, decisions, round)
        if decision is None and policy == "accept":
            reviewers.append(POLICY_PREFIX + policy)
        elif decision is None:
            # The later round is still read: a rejection there needs no earlier one.
            status = "pending"
        else:
            reviewers.append(decision.reviewer)
            revision += decision.verdict == "edit"
            item = _after(item, decision)
            if decision.verdict == "reject":
                status, reason = "rejected", decision.reason
                break
    return Resolution(
        item["item_id"],
        item["content_hash"],
        status,
        item["content"],
        revision,
        tuple(reviewers),
        reason,
    )


def awaits(item: QueueItem, decisions: Iterable[Decision], round: int, policy: Policy) -> bool:
    """Whether a person may still decide this round: not rejected, not decided, and its turn.

    Under policy `require` round 2 has its turn after round 1; under `accept` at once.
    """
    decisions = list(decisions)
    if resolve(item, decisions, policy).status == "rejected":
        return False
    *earlier, this = [
        latest(standing(item, decisions, each), decisions, each) is not None
        for each in ROUNDS[: ROUNDS.index(round) + 1]
    ]
    return not this and (policy == "accept" or all(earlier))


def check_decision(record: Mapping[str, Any], item: QueueItem) -> Decision:
    """The decision that `record` (JSON from a person) states about `item`.

    `item` is the item as it stands for the record's round (`standing`). Raises StaleDecision when
    the record is about another content, ValueError with one sentence for everything else.
    """
    if record.get("item_id") != item["item_id"]:
        raise ValueError(f"item_id is {record.get('item_id')!r}, the item is {item['item_id']!r}.")
    round, verdict = record.get("round"), record.get("verdict")
    if type(round) is not int or round not in ROUNDS:
        raise ValueError(f"round is 1 or 2, not {round!r}.")
    reviewer = _reviewer(record.get("reviewer"))
    if verdict not in VERDICTS:
        raise ValueError(f"verdict is one of {', '.join(VERDICTS)}, not {verdict!r}.")
    if not record.get("content_hash"):
        raise ValueError("content_hash is missing: say which content was decided on.")
    if record["content_hash"] != item["content_hash"]:
        raise StaleDecision(
            f"item {item['item_id']} was decided on at content {record['content_hash']} and stands "
            f"at {item['content_hash']} now: export it again."
        )
    reason, edits = _text(record, "reason"), record.get("edits") or None
    if verdict == "reject" and reason is None:
        raise ValueError("reject needs a reason.")
    if verdict == "edit":
        _check_edits(edits, item)
    elif edits is not None:
        raise ValueError(f"edits are given and the verdict is {verdict}: it would be edit.")
    return Decision(
        item_id=item["item_id"],
        content_hash=item["content_hash"],
        round=round,
        reviewer=reviewer,
        verdict=verdict,
        edits=edits,
        reason=reason,
        note=_text(record, "note"),
        seconds=_seconds(record.get("seconds")),
        decided_at=_time(record.get("decided_at")),
    )


def _after(item: QueueItem, decision: Decision | None) -> QueueItem:
    if decision is None or decision.edits is None:
        return item
    return {**item, "content": decision.edits, "content_hash": content_id(decision.edits)}


def _reviewer(name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ValueError("reviewer is missing: every decision has a person's name on it.")
    if name.strip().lower().startswith(POLICY_PREFIX):
        raise ValueError(f"reviewer {name!r} is a policy's name: people may not pose as policy.")
    return name.strip()


def _text(record: Mapping[str, Any], key: str) -> str | None:
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key} is a text, not {value!r}.")
    return (value or "").strip() or None


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else -1
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"seconds is a number from 0 up, not {value!r}.")
    return float(number)


def _time(value: object) -> str:
    text = value if isinstance(value, str) else ""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"decided_at is a time in ISO 8601, not {value!r}.") from None
    return text


def _check_edits(edits: object, item: QueueItem) -> None:
    content, editable = item["content"], EDITABLE[item["kind"]]
    if not isinstance(edits, dict) or edits.keys() != content.keys():
        raise ValueError(f"edit needs edits: the whole content, with the keys {sorted(content)}.")
    changed = sorted(key for key in content if key != editable and edits[key] != content[key])
    if changed:
        raise ValueError(f"edits may change {editable} alone, and they change {changed}.")
    texts = _texts(edits, item["kind"])
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise ValueError(f"edits need {editable} with every text in place, and one is missing.")
    _check_images(" ".join(texts), edits, item)
    if content_id(edits) == item["content_hash"]:
        raise ValueError("edits change nothing: the verdict would be accept.")


def _texts(content: dict[str, Any], kind: str) -> list[Any]:
    """What people read and may change; None where a turn lacks its question or answer."""
    if kind == "rewrite":
        return [content["rewrite"]]
    turns = content["turns"]
    if not isinstance(turns, list) or not turns:
        raise ValueError("edits need turns, a list with at least one turn.")
    if not all(isinstance(turn, dict) for turn in turns):
        raise ValueError("every turn of the edits has a question and an answer.")
    return [turn.get(key) for turn in turns for key in ("question", "answer")]


def _check_images(text: str, edits: dict[str, Any], item: QueueItem) -> None:
    n_images = len(item["image_ids"])
    names = {str(number) for number in range(1, n_images + 1)}
    for reference in _IMAGE_REFERENCE.finditer(text):
        if reference[1] not in names:
            raise ValueError(f"edits name {reference[0]}, and the item has {n_images} images.")
    # A dialogue whose images no longer match their places cannot be sent to any model.
    if _places(edits, item["kind"]) != _places(item["content"], item["kind"]):
        raise ValueError(
            f"edits must keep the {IMAGE_HERE} of the content's questions and add none to answers."
        )


def _places(content: dict[str, Any], kind: str) -> tuple[int, int]:
    """How often an image enters in questions (or in a rewrite), and in answers, where none may."""
    texts = _texts(content, kind)
    asked, answered = (texts, []) if kind == "rewrite" else (texts[::2], texts[1::2])
    return " ".join(asked).count(IMAGE_HERE), " ".join(answered).count(IMAGE_HERE)
