"""Review decisions: items of the queue, decisions of people, and the validation of decisions.

A decision names, by hash, the exact content that it is about.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NotRequired, TypedDict, get_args

from methods.ids import canonical_json, content_id
from methods.json_text import from_json
from methods.prompts.messages import IMAGE_NAME
from methods.review.faults import EditFault, Path
from methods.review.kinds import KINDS, REASONS

Verdict = Literal["accept", "edit", "reject", "skip"]
"""`skip` decides nothing. It is stored, and the item goes to another person."""

VERDICTS: tuple[str, ...] = get_args(Verdict)
ROUNDS = (1, 2)
"""Annotators decide in round 1, an expert in round 2."""

POLICY_PREFIX = "policy:"
MOST_SECONDS = 31_536_000
"""The longest time of a decision, one year. Larger numbers are mistakes and would spoil sums."""

MOST_CHARACTERS = 4_000
"""The most characters of a reason, note or comment."""
MOST_BYTES = 500_000
"""The most bytes of the texts of one decision, as JSON. A dialogue of 27 turns has about 100 kB."""

EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
"""Earlier times of decisions are rejected as those of a wrong clock."""
AHEAD = timedelta(days=1)
"""The largest difference by which the clock of another machine may be ahead."""

_TIME = re.compile(r"[0-9][0-9TWZ:.,+ -]{7,40}")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Invisible characters: control characters except tabs and line ends, marks of text direction, lone
surrogates, which no file can hold, and tags, which can spell a text.
"""
_IMAGE_REFERENCE = re.compile(IMAGE_NAME, re.IGNORECASE)


class QueueItem(TypedDict):
    """One item to review. `content` has the keys of its kind, `content_hash` is `content_id(content)`.

    `context` helps people to decide, but is not part of the decision: {"page_urls", "why" (why a filter
    flagged it), "captions", "checks" (by question)}. `image_paths` and `page_urls` are not part of it,
    either.
    """

    item_id: str
    kind: str
    content: dict[str, Any]
    content_hash: str
    image_ids: list[str]
    set_id: NotRequired[str]
    context: NotRequired[dict[str, Any]]
    image_paths: NotRequired[list[str]]
    page_urls: NotRequired[list[str]]


def queue_item(row: Mapping[str, Any]) -> QueueItem:
    """Make the item of a row of `review.queue`, whose content and context are JSON texts."""
    return QueueItem(
        item_id=row["item_id"],
        kind=row["kind"],
        content=from_json(row["content"]),
        content_hash=row["content_hash"],
        image_ids=row["image_ids"],
        set_id=row["set_id"],
        context=from_json(row["context"] or "{}"),
    )


@dataclass(frozen=True)
class Decision:
    """One person's decision in one round on one exact content.

    Attributes:
        edits: The complete new content, for the verdict `edit`.
        seconds: The time that the person spent.
        decided_at: The time of the decision, ISO 8601.
        event_id: The id in the store; None before it is stored.
        source_hash: The identity of the decision; None means `source_hash_of(decision)`.
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


class StaleDecision(ValueError):
    """The decision is about an outdated content of the item."""


def source_hash_of(decision: Decision) -> str:
    """Hash all fields of a decision except `event_id` and `source_hash`."""
    return content_id(vars(decision) | {"event_id": None, "source_hash": None})


def by_item(decisions: Iterable[Decision]) -> dict[str, list[Decision]]:
    """Group decisions by item, in the order given. The result has an empty list for other items."""
    groups: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        groups[decision.item_id].append(decision)
    return groups


def check_decision(
    record: Mapping[str, Any], item: QueueItem, queued: Mapping[str, Any] | None = None
) -> Decision:
    """Check a person's decision on an item.

    Args:
        record: The decision as JSON.
        item: The item with the content to decide on in the record's round (`review_state(…).item`).
        queued: The content of the item in the queue; None if it is that of `item`, or not known.

    Raises:
        StaleDecision: The record is about another content.
        EditFault: An edit is not valid.
        ValueError: Another fault, in one sentence.
    """
    if record.get("item_id") != item["item_id"]:
        raise ValueError(
            f"item_id is {record.get('item_id')!r:.80}, the item is {item['item_id']!r}."
        )
    round, verdict = record.get("round"), record.get("verdict")
    if type(round) is not int or round not in ROUNDS:
        raise ValueError(f"round is 1 or 2, not {round!r:.80}.")
    reviewer = _reviewer(record.get("reviewer"))
    if verdict not in VERDICTS:
        raise ValueError(f"verdict is one of {', '.join(VERDICTS)}, not {verdict!r:.80}.")
    if not record.get("content_hash"):
        raise ValueError("content_hash is missing: it says which content was decided on.")
    if record["content_hash"] != item["content_hash"]:
        raise StaleDecision(
            f"item {item['item_id']} was decided on at content {record['content_hash']!s:.80} and its "
            f"content is {item['content_hash']} now: export it again."
        )
    reason, note = _text(record, "reason"), _text(record, "note")
    for name, written in (("reason", reason), ("note", note)):
        if written and len(written) > MOST_CHARACTERS:
            raise ValueError(
                f"the {name} has {len(written):,} characters and may have {MOST_CHARACTERS:,}: "
                "shorten it."
            )
    edits: Any = record.get("edits")
    check_texts(edits, reason, note, item["content"])
    if verdict == "reject":
        check_reason(reason, note)
    if verdict == "edit":
        KINDS[item["kind"]].check(edits, item["content"], queued)
        _check_images(edits, item)
    elif edits:
        raise ValueError(f"edits are given with the verdict {verdict}: set the verdict to edit.")
    if verdict == "accept" and KINDS[item["kind"]].needs_edit(item["content"]):
        raise EditFault("an item of this kind needs people's values: fill it in.")
    return Decision(
        item_id=item["item_id"],
        content_hash=item["content_hash"],
        round=round,
        reviewer=reviewer,
        verdict=verdict,
        edits=edits or None,
        reason=reason,
        note=note,
        seconds=_seconds(record.get("seconds")),
        decided_at=_time(record.get("decided_at")),
    )


def check_texts(
    edits: Any, reason: str | None, note: str | None, content: Mapping[str, Any]
) -> None:
    """Check the length and the characters of what a person wrote in a decision.

    Args:
        edits: The changed content as JSON, None for none.
        reason: The reason of the decision.
        note: The note of the decision.
        content: The content before the edits. Characters that it already has are allowed.

    Raises:
        EditFault: A text of the edits has a control character that the content lacks.
        ValueError: The texts are longer than MOST_BYTES, or the reason or note has such a character.
    """
    n_bytes = len(canonical_json([edits, reason, note]).encode(errors="surrogatepass"))
    if n_bytes > MOST_BYTES:
        raise ValueError(
            f"the texts of the decision have {n_bytes:,} bytes and may have {MOST_BYTES:,}: "
            "shorten them."
        )
    before = {char for _, text in _texts_in(content, ()) for char in _UNSEEN.findall(text)}
    for path, text in _texts_in(edits, ()):
        if added := _unseen(text, before):
            raise EditFault(
                "{name} is an invisible control character: remove it.", path, name=added
            )
    for name, written in (("reason", reason), ("note", note)):
        if written and (added := _unseen(written, before)):
            raise ValueError(f"{name}: {added} is an invisible control character: remove it.")


def _unseen(text: str, allowed: Collection[str]) -> str | None:
    """The code point of the first invisible character that is not allowed, such as "U+202E"."""
    added = (char for char in _UNSEEN.findall(text) if char not in allowed)
    return next((f"U+{ord(char):04X}" for char in added), None)


def moment(time: str, current_time: datetime) -> datetime:
    """Read a time that is neither too early nor in the future.

    Args:
        time: The text, as in `parsed_time`.
        current_time: The present time.

    Raises:
        ValueError: The text is not a time, or the time is before EARLIEST or more than AHEAD after
            `current_time`.
    """
    at = parsed_time(time)
    if not EARLIEST <= at <= current_time + AHEAD:
        raise ValueError(f"{time} is before {EARLIEST.year} or in the future.")
    return at


def parsed_time(time: str) -> datetime:
    """Read a time in ISO 8601; without an offset it is in UTC. Raises ValueError."""
    try:
        parsed = datetime.fromisoformat(time) if _TIME.fullmatch(time) else None
    except ValueError:
        parsed = None
    if parsed is None:
        raise ValueError(f"{time[:80]!r} is not a time in ISO 8601.")
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _reviewer(name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ValueError("reviewer is missing: every decision needs the name of a person.")
    if name.strip().lower().startswith(POLICY_PREFIX):
        raise ValueError(
            f"reviewer {name!r:.80} is the name of a policy: give the name of a person."
        )
    return name.strip()


def check_reason(reason: str | None, note: str | None) -> None:
    """Check the reason of a rejection: one of REASONS, and a note for `other`. Raises ValueError."""
    if reason is None:
        raise ValueError("reject needs a reason.")
    if reason not in REASONS:
        raise ValueError(f"reason is one of {', '.join(REASONS)}, not {reason!r:.80}.")
    if reason == "other" and note is None:
        raise ValueError("the reason other needs a note that says what is wrong.")


def _text(record: Mapping[str, Any], key: str) -> str | None:
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key} is a text, not {value!r:.80}.")
    return (value or "").strip() or None


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else -1
    if not 0 <= number <= MOST_SECONDS:
        raise ValueError(f"seconds is a number from 0 to {MOST_SECONDS:,}, not {value!r:.80}.")
    return float(number)


def _time(value: object) -> str:
    text = value if isinstance(value, str) else ""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"decided_at is a time in ISO 8601, not {value!r:.80}.") from None
    return text


def _check_images(edits: dict[str, Any], item: QueueItem) -> None:
    n_images = len(item["image_ids"])
    names = {str(number) for number in range(1, n_images + 1)}
    # Only editable texts are checked: other texts, by a model, may name images that do not exist.
    for key in KINDS[item["kind"]].editable:
        for path, text in _texts_in(edits[key], (key,)):
            for reference in _IMAGE_REFERENCE.finditer(text):
                if reference[1] not in names:
                    raise EditFault(
                        "{name} is none of the item's images, of which there are {n}.",
                        path,
                        name=reference[0],
                        n=n_images,
                    )


def _texts_in(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield every text in a JSON value, with the path to it."""
    match value:
        case str():
            yield path, value
        case dict():
            for key, part in value.items():
                yield from _texts_in(part, (*path, key))
        case list():
            for number, part in enumerate(value):
                yield from _texts_in(part, (*path, number))
