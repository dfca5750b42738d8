"""Gold items (items with a known answer) in the store, to calibrate and check annotators.

They are copies of items that experts decided; this module creates, selects and scores them.
"""

import json
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Row, TextClause, text

from methods.ids import ID_LENGTH, content_id
from methods.json_text import from_json
from methods.review.decisions import Decision, QueueItem
from methods.review.gold import DecisionComparison, expected_of, is_due, is_hit, passes_calibration
from methods.review.overview import grouped
from methods.review.process import RuleBook, review_state
from resources.review import events, item_status
from resources.review.clock import database_time
from resources.review.statements import sql

_ORDERS = 8
"""There are this many orders of gold items, so that people get them in different orders. Each person's
order compares the hex digits of ids from the 1st, 2nd ... or 8th digit on."""
_CONTENT = text("SELECT item FROM item_contents WHERE item_id = :item_id")
_ALL = text(
    "SELECT item_id, of_item, expected, made_by, made_at FROM gold ORDER BY made_at, item_id"
)
_COPY_ITEM = text("""
INSERT INTO items (item_id, kind, set_id, content_hash, made_of, place, withdrawn, title)
SELECT :item_id, kind, set_id, content_hash, made_of, place, 1, title FROM items
WHERE item_id = :of_item ON CONFLICT DO NOTHING
""")
_COPY_CONTENT = text(
    "INSERT INTO item_contents (item_id, item) VALUES (:item_id, :item) ON CONFLICT DO NOTHING"
)
_INSERT = text("""
INSERT INTO gold (item_id, of_item, expected, made_by, made_at)
VALUES (:item_id, :of_item, :expected, :made_by, :made_at) ON CONFLICT DO NOTHING
""")
_IS_GOLD = text("SELECT 1 FROM gold WHERE item_id = :item_id")
_ANSWERED = text("""
SELECT item_id, item, expected FROM gold JOIN item_contents USING (item_id)
WHERE EXISTS (
    SELECT 1 FROM in_force AS e
    WHERE
        e.item_id = gold.item_id
        AND (CAST(:reviewer AS TEXT) IS NULL OR e.reviewer = :reviewer)
)
""")
_DECIDED_OTHER = text("""
SELECT 1 FROM in_force
WHERE reviewer = :reviewer AND item_id NOT IN (SELECT item_id FROM gold) LIMIT 1
""")
_MADE = text("SELECT item_id, made_at FROM gold ORDER BY item_id")
_N_GOLD = text("SELECT count(*) FROM gold")
_N_GOLD_DECIDED = text(
    "SELECT count(*) FROM gold JOIN in_force USING (item_id) WHERE reviewer = :reviewer"
)
_TAKEN_BACK = text("""
SELECT g.item_id, 1 AS round, i.content_hash
FROM gold AS g JOIN items AS i USING (item_id)
WHERE
    g.item_id = :item_id
    AND :round = 1
    AND EXISTS (
        SELECT 1 FROM events AS e WHERE e.item_id = g.item_id AND e.reviewer = :reviewer
    )
    AND NOT EXISTS (
        SELECT 1 FROM in_force AS e WHERE e.item_id = g.item_id AND e.reviewer = :reviewer
    )
""")


class GoldAnswer(NamedTuple):
    """A person's decision on a gold item; `hit` says whether it equals the expert's."""

    item: QueueItem
    decision: Decision
    hit: bool

    def compared(self) -> DecisionComparison:
        """Return the answer as a comparison with the expert's decision."""
        return DecisionComparison(self.decision.reviewer, self.decision.decided_at, True, self.hit)


class NewGold(NamedTuple):
    """A new gold item: the copy with its own id, the original item, and the expected decision."""

    item: QueueItem
    of_item: str
    expected: dict[str, Any]
    made_by: str
    made_at: str


Calibrated = Literal["in_calibration", "passed", "not_calibrated"]
"""A person gets gold items only, has passed the calibration, or began before there were enough."""


class GoldSummary(NamedTuple):
    """The numbers of gold items and of possible further ones, and the results of each person.

    A result is (name, answers, hits, state of the calibration or None).
    """

    n_items: int
    n_candidates: int
    people: list[tuple[str, int, int, Calibrated | None]]


def make(connection: Connection, n_items: int, made_by: str) -> int:
    """Make gold items from the latest items that experts decided.

    Args:
        connection: The review store.
        n_items: The maximum number of gold items to make.
        made_by: The person who makes them.

    Returns:
        The number of gold items that were made.
    """
    n_made = 0
    rules, made_at = item_status.current_rules(connection), database_time(connection)
    for (item_id,) in connection.execute(sql("gold_candidates")).all():
        if n_made == n_items:
            break
        content = connection.execute(_CONTENT, {"item_id": item_id}).scalar_one()
        item: QueueItem = from_json(content)
        state = review_state(
            item, events.read(connection, [item_id]), rules.rules_for(item["kind"])
        )
        expected = expected_of(item, state)
        if expected is not None:
            copy: QueueItem = {**item, "item_id": gold_id_of(item)}
            n_made += insert(connection, NewGold(copy, item_id, expected, made_by, made_at))
    return n_made


def gold_id_of(item: QueueItem) -> str:
    """Return the id of the gold item that copies an item with its present content.

    It has the form of the item's id, which may have a suffix.
    """
    suffix = item["item_id"][ID_LENGTH:]
    return content_id("gold", item["item_id"], item["content_hash"]) + suffix


def read(connection: Connection) -> list[dict[str, Any]]:
    """Return the rows of gold items: item_id, of_item, expected (JSON), made_by, made_at."""
    return [dict(row) for row in connection.execute(_ALL).mappings()]


def insert(connection: Connection, new: NewGold) -> int:
    """Store a gold item; the item that it copies is in the store.

    Returns 1, or 0 if it is stored already.
    """
    values = {
        "item_id": new.item["item_id"],
        "of_item": new.of_item,
        "item": json.dumps(new.item, ensure_ascii=False),
        "expected": json.dumps(new.expected, ensure_ascii=False),
        "made_by": new.made_by,
        "made_at": new.made_at,
    }
    for statement in (_COPY_ITEM, _COPY_CONTENT):
        connection.execute(statement, values)
    return connection.execute(_INSERT, values).rowcount


def is_gold(connection: Connection, item_id: str) -> bool:
    """Check whether an item is a gold item."""
    return connection.execute(_IS_GOLD, {"item_id": item_id}).first() is not None


def answers(connection: Connection, reviewer: str | None = None) -> list[GoldAnswer]:
    """Read the decisions on gold items, of one person or all, without skips, in the order of events."""
    gold = {
        row.item_id: (from_json(row.item), from_json(row.expected))
        for row in connection.execute(_ANSWERED, {"reviewer": reviewer}).all()
    }
    return [
        GoldAnswer(item, decision, is_hit(item, decision, expected))
        for decision in events.read(connection, list(gold))
        if decision.verdict != "skip" and reviewer in (None, decision.reviewer)
        for item, expected in [gold[decision.item_id]]
    ]


def in_calibration(connection: Connection, reviewer: str, rules: RuleBook) -> bool:
    """Check whether a person is in calibration, that is, only gets gold items for now.

    Calibration does not apply to people who have decided an item that is not gold, or if there are
    fewer gold items than it needs.

    Args:
        connection: The review store.
        reviewer: The person.
        rules: The review rules.

    Returns:
        True if the person is in calibration.
    """
    rule = rules.calibration
    if rule is None or _count(connection, _N_GOLD) < rule.items:
        return False
    if connection.execute(_DECIDED_OTHER, {"reviewer": reviewer}).first() is not None:
        return False
    return not passes_calibration([answer.hit for answer in answers(connection, reviewer)], rule)


def next_gold(
    connection: Connection, values: dict[str, Any], rules: RuleBook, *, always: bool
) -> Row[Any] | None:
    """Find the person's next gold item.

    Args:
        connection: The review store.
        values: The person and the filters of the query.
        rules: The review rules.
        always: Whether to return a gold item even if none is due.

    Returns:
        The row of the item, or None.
    """
    if not always:
        if not rules.gold:
            return None
        reviewer = values["reviewer"]
        n_decided = events.n_decided(connection, reviewer)
        n_gold = _count(connection, _N_GOLD_DECIDED, reviewer=reviewer)
        # Annotators do not know all gold items of the store and when they were made.
        key = content_id(*map(list, connection.execute(_MADE).all()))
        if not is_due(key, reviewer, n_decided, n_gold, rules.gold):
            return None
    step = 1 + int(content_id("order", values["reviewer"])[:_ORDERS], 16) % _ORDERS
    return connection.execute(sql("next_gold"), values | {"step": step}).first()


def taken_back_gold(connection: Connection, values: dict[str, Any]) -> Row[Any] | None:
    """Find the row of a gold item whose decision the person took back, by both in `values`."""
    return connection.execute(_TAKEN_BACK, values).first()


def overview(connection: Connection, rules: RuleBook, answers: list[GoldAnswer]) -> GoldSummary:
    """Summarize gold items and the answers to them.

    Args:
        connection: The review store.
        rules: The review rules.
        answers: All decisions on gold items.

    Returns:
        The figures.
    """
    n_candidates = len(connection.execute(sql("gold_candidates")).all())
    people = []
    for name, answered in grouped(answers, lambda each: each.decision.reviewer).items():
        hits = [answer.hit for answer in answered]
        people.append((name, len(hits), sum(hits), _calibrated(connection, name, hits, rules)))
    return GoldSummary(_count(connection, _N_GOLD), n_candidates, people)


def _calibrated(
    connection: Connection, reviewer: str, hits: list[bool], rules: RuleBook
) -> Calibrated | None:
    rule = rules.calibration
    if rule is None:
        return None
    if in_calibration(connection, reviewer, rules):
        return "in_calibration"
    # A person who has passed stays passed, whatever the later answers on gold items are.
    n_answers = range(rule.items, len(hits) + 1)
    return (
        "passed" if any(passes_calibration(hits[:n], rule) for n in n_answers) else "not_calibrated"
    )


def _count(connection: Connection, query: TextClause, **values: str) -> int:
    return int(connection.execute(query, values).scalar_one())
