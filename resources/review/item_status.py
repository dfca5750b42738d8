"""The review status of items, derived from events and stored, so that no page has to read all events.

The tables `standings` (the status of each item), `bars` (people who may not make its next decision) and
`assigned` are computed from the items, events, rules and assignments. The transaction that changes any
of these updates them.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, text

from methods.batched import batched
from methods.json_text import from_json
from methods.review.assignment import Assignment, place_of, priority
from methods.review.decisions import by_item
from methods.review.process import ReviewState, RuleBook, review_state
from resources.review import assignments, events
from resources.review.statements import rows_for, statement
from resources.review.tables import STANDINGS

_BATCH = 500
_TABLES = ("standings", "bars", "assigned")
_COLUMNS = [column.name for column in STANDINGS.columns]
_PUT = text(f"""
INSERT INTO standings ({", ".join(_COLUMNS)}) VALUES (:{", :".join(_COLUMNS)})
ON CONFLICT (item_id) DO UPDATE SET
{", ".join(f"{each} = excluded.{each}" for each in _COLUMNS if each != "item_id")}
""")
_BAR = text("INSERT INTO bars (item_id, annotator) VALUES (:item_id, :annotator)")
_FORGET = {
    table: statement(f"DELETE FROM {table} WHERE item_id IN :item_ids", ("item_ids",))
    for table in _TABLES
}
_RULES = text("SELECT rules FROM rules")
_BASIS = text("SELECT max(rules), EXISTS (SELECT 1 FROM assignments) FROM rules")
_SET_RULES = text("""
INSERT INTO rules ("only", rules) VALUES (1, :rules)
ON CONFLICT ("only") DO UPDATE SET rules = excluded.rules
""")
_QUEUED = text("SELECT item_id FROM items WHERE withdrawn = 0")
_ITEMS = statement(
    """
SELECT
    item_id, kind, place, item,
    EXISTS (SELECT 1 FROM bars WHERE bars.item_id = items.item_id) AS has_bars
FROM items JOIN item_contents USING (item_id)
WHERE withdrawn = 0 AND item_id IN :item_ids
""",
    ("item_ids",),
)


def current_rules(connection: Connection) -> RuleBook:
    """Return the stored rules, on which the stored statuses are based."""
    return rules_of(connection.execute(_RULES).scalar())


def rules_of(stored: str | None) -> RuleBook:
    """Parse stored rules; the default rules for None (a store without rules)."""
    return RuleBook() if stored is None else RuleBook.model_validate_json(stored)


def follows_rules(connection: Connection, rules: RuleBook) -> bool:
    """Check whether the stored statuses are based on these rules.

    False if the store has other rules, or writes them in an earlier version's format.
    """
    return bool(connection.execute(_RULES).scalar() == rules.model_dump_json())


def set_rules(connection: Connection, rules: RuleBook) -> None:
    """Store the rules, and update the status of every item."""
    connection.execute(_SET_RULES, {"rules": rules.model_dump_json()})
    rebuild(connection)


def rebuild(connection: Connection) -> None:
    """Recompute the status of every item from items, events, rules and assignments."""
    for table in _TABLES:
        connection.execute(text(f"DELETE FROM {table}"))
    update(connection, list(connection.execute(_QUEUED).scalars()))


def update(connection: Connection, item_ids: Sequence[str]) -> None:
    """Recompute the status of items. Withdrawn and unknown items get no status."""
    stored, any_assignments = connection.execute(_BASIS).one()
    rules = rules_of(stored)
    all_assignments = assignments.assignments(connection) if any_assignments else []
    for wanted in batched(item_ids, _BATCH):
        queued = rows_for(connection, _ITEMS, wanted)
        without_bars = {row.item_id for row in queued if not row.has_bars}
        rows_for(connection, _FORGET["bars"], set(wanted) - without_bars)
        if all_assignments:
            rows_for(connection, _FORGET["assigned"], wanted)
        rows_for(connection, _FORGET["standings"], set(wanted) - {row.item_id for row in queued})
        decided = by_item(events.read(connection, [row.item_id for row in queued]))
        standings: list[dict[str, Any]] = []
        bars: list[dict[str, Any]] = []
        assigned: list[assignments.Row] = []
        for row in queued:
            item = from_json(row.item)
            state = review_state(item, decided[row.item_id], rules.rules_for(row.kind))
            standing, rows = _standing(row, state, rules, all_assignments)
            standings.append(standing)
            bars += [{"item_id": row.item_id, "annotator": name} for name in sorted(state.excluded)]
            assigned += rows
        for insert, values in ((_PUT, standings), (_BAR, bars)):
            if values:
                connection.execute(insert, values)
        assignments.insert(connection, assigned)


def _standing(
    row: Row[Any], state: ReviewState, rules: RuleBook, all_assignments: Sequence[Assignment]
) -> tuple[dict[str, Any], list[assignments.Row]]:
    """Return the row of `standings` of an item, and its rows of `assigned`."""
    status = state.status
    place = place_of(row.item_id, state.item.get("set_id"))
    standing = {
        **{"item_id": row.item_id, "kind": row.kind, "place": row.place},
        "status": status.name,
        "people": status.people_needed,
        "round": status.round,
        "content_hash": state.item["content_hash"],
        "priority": priority(rules.priorities, state, state.item.get("context") or {}, place),
    }
    assigned, n_reserved = assignments.rows_of(all_assignments, standing, place, state.excluded)
    return {**standing, "unreserved": status.people_needed - n_reserved}, assigned
