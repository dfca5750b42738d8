"""Queries for the lead of a review: progress, inter-annotator agreement, disputes and locks."""

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, text

from methods.json_text import from_json
from methods.review.agreement import ALL, people_rows
from methods.review.decisions import QueueItem
from methods.review.gold import compare_with_others, weeks
from methods.review.overview import (
    DecisionEffort,
    ReviewForecast,
    by_kind,
    by_person,
    expected_for_experts,
    forecast,
)
from methods.review.process import ROUND_OF_ROLE, RuleBook
from methods.review.ratings import IN_CONTENT, blind_on_current, ratings_of
from resources.review import assignments, events, gold, item_status
from resources.review.clock import advance, time_of_day, time_of_locks
from resources.review.gold import GoldSummary
from resources.review.locks import LOCK_SECONDS
from resources.review.statements import sql

RATED_ITEMS = 2_000
"""Agreement is computed on at most this many items that two people decided, the latest ones."""
RESAMPLES = 200
"""Bootstrap resamples for intervals on the lead's page; the table `review.agreement` uses more."""
FEWEST_IN_COMMON = 5
"""Pairs of people with fewer common items than this are counted, but not shown."""
SHOWN_DISPUTES = 20
QUIET_SECONDS = 180
"""A lock that was not renewed for longer than this counts as hanging. An open browser page renews its
lock each minute while its person is active."""
_RELEASE = text("""
UPDATE locks SET expires_at = :now
WHERE item_id = :item_id AND annotator = :annotator AND expires_at > :now
""")
_RELEASE_OTHER_ROUNDS = text("""
UPDATE locks SET expires_at = :now
WHERE annotator = :annotator AND round <> :round AND expires_at > :now
""")


@dataclass(frozen=True)
class LockedItem:
    """An item that a person has locked. `quiet_seconds` is the time since the lock was last renewed."""

    item_id: str
    annotator: str
    round: int
    kind: str
    title: str
    quiet_seconds: float
    hangs: bool


@dataclass(frozen=True)
class Dispute:
    """An item on which people disagree; `votes` are (person, verdict) in round 1.

    Its status is `round_2` if annotators disagree, or `to_rework` if an expert rejected it.
    """

    item_id: str
    kind: str
    status: str
    title: str
    votes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Overview:
    """The figures of a review at the time `at` (UTC, ISO 8601).

    `weeks` are rows of `methods.review.gold.weeks`. `agreement` are rows of `people_rows`, without
    `n_small_pairs` pairs of people who have too few common items.
    """

    disputes: list[Dispute]
    n_disputes: int
    forecast: ReviewForecast
    gold: GoldSummary
    at: str
    people: list[dict[str, Any]]
    kinds: list[dict[str, Any]]
    agreement: list[dict[str, Any]]
    n_small_pairs: int
    weeks: list[dict[str, Any]]


def overview(connection: Connection) -> Overview:
    """Return the figures of the review: people, agreement, disputes, and a forecast of its end."""
    rules, today = item_status.current_rules(connection), time_of_day(connection).date()
    efforts, answers = work(connection), gold.answers(connection)
    twice = items_rated_twice(connection)
    decided = events.read(connection, [item["item_id"] for item in twice])
    rows = people_rows(ratings_of(twice, decided, rules), seed=0, n_resamples=RESAMPLES)
    disputes, n_disputes = disputed(connection)
    comparisons = compare_with_others(blind_on_current(twice, decided, rules))
    shown = [row for row in rows if row["raters"] == ALL or row["n_items"] >= FEWEST_IN_COMMON]
    small = {row["raters"] for row in rows} - {row["raters"] for row in shown}
    return Overview(
        disputes=disputes,
        n_disputes=n_disputes,
        forecast=forecast(needed_decisions(connection, rules), efforts, today),
        gold=gold.overview(connection, rules, answers),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        people=by_person(efforts, today),
        kinds=by_kind(efforts),
        agreement=shown,
        n_small_pairs=len(small),
        weeks=weeks([*comparisons, *(answer.compared() for answer in answers)]),
    )


def work(connection: Connection) -> list[DecisionEffort]:
    """Return every decision of people, without its texts, in the order of events."""
    return [DecisionEffort(*row) for row in connection.execute(sql("work"))]


def needed_decisions(connection: Connection, rules: RuleBook) -> dict[int, int]:
    """Estimate the decisions that are still needed, by round; for experts the expected number."""
    annotators, experts = 0, 0.0
    for row in connection.execute(sql("needed")):
        rule = rules.rules_for(row.kind)
        annotators += row.n_needed
        experts += row.n_waiting + row.n_rework
        experts += expected_for_experts(
            row.n_open, rule.expert, rule.expert_share, row.n_past, row.n_to_expert
        )
    return {1: annotators, 2: round(experts)}


def items_rated_twice(connection: Connection) -> list[QueueItem]:
    """Return the latest RATED_ITEMS items that two people decided. An item has its content only if
    ratings are part of the content of its kind."""
    values = {"limit": RATED_ITEMS, "labelled": list(IN_CONTENT)}
    return [
        _item(row) for row in connection.execute(sql("rated_twice", lists=("labelled",)), values)
    ]


def disputed(connection: Connection) -> tuple[list[Dispute], int]:
    """Return the first SHOWN_DISPUTES disputed items in queue order, and the total number."""
    rows = connection.execute(sql("disputes"), {"limit": SHOWN_DISPUTES}).all()
    disputes = [
        Dispute(
            *of_item,
            votes=tuple((row.reviewer, row.verdict) for row in votes if row.reviewer is not None),
        )
        for of_item, votes in groupby(
            rows, lambda row: (row.item_id, row.kind, row.status, row.title)
        )
    ]
    return disputes, rows[0].n_disputed if rows else 0


def holds(connection: Connection) -> list[LockedItem]:
    """Return all locked items, the longest inactive lock first."""
    time = time_of_locks(connection)
    locked = []
    for row in connection.execute(sql("holds"), {"now": time}):
        remaining = datetime.fromisoformat(row.expires_at) - datetime.fromisoformat(time)
        quiet = max(LOCK_SECONDS - remaining.total_seconds(), 0.0)
        locked.append(
            LockedItem(
                *(row.item_id, row.annotator, row.round, row.kind, row.title),
                quiet_seconds=quiet,
                hangs=quiet > QUIET_SECONDS,
            )
        )
    return locked


def release(connection: Connection, item_id: str, annotator: str) -> bool:
    """End a person's lock on an item; the draft stays.

    Args:
        connection: The review store.
        item_id: The item.
        annotator: The person.

    Returns:
        False if the person has no lock on the item.
    """
    values = {"item_id": item_id, "annotator": annotator, "now": advance(connection)}
    return bool(connection.execute(_RELEASE, values).rowcount)


def release_other_rounds(connection: Connection, annotator: str, role: str | None) -> None:
    """End a person's locks and assignments of rounds in which a role does not decide; the drafts stay.

    Args:
        connection: The review store.
        annotator: The person.
        role: The role; None for a person who decides nothing any more.
    """
    round = 0 if role is None else ROUND_OF_ROLE[role]
    values = {"annotator": annotator, "round": round, "now": advance(connection)}
    connection.execute(_RELEASE_OTHER_ROUNDS, values)
    assignments.end_other_rounds(connection, annotator, round)


def _item(row: Row[Any]) -> QueueItem:
    if row.item is not None:
        item: QueueItem = from_json(row.item)
        return item
    return QueueItem(
        item_id=row.item_id,
        kind=row.kind,
        content={},
        content_hash=row.content_hash,
        image_ids=[],
        set_id=row.set_id or row.item_id,
    )
