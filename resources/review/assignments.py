"""Assignments of shares of the review queue to annotators and experts, and the items they cover."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, get_args

from sqlalchemy import Connection, text
from sqlalchemy import Row as RowOfQuery

from methods.review.assignment import Assignment, Progress, next_start, place_of, progress_of
from methods.review.process import ROUND_OF_ROLE
from resources.review.clock import database_time
from resources.review.statements import sql
from resources.review.tables import ASSIGNED, ASSIGNMENTS

Row = tuple[str, str, int, int, str, int, int]
"""(item id, person, round, assignment id, progress, priority of the item, its place in the queue)."""

_FIELDS = tuple(Assignment.__dataclass_fields__)
_COUNTS = text(
    "SELECT assignment_id, progress, count(*) FROM assigned GROUP BY assignment_id, progress"
)
# The open decisions of each queued item.
_STANDINGS = text("""
SELECT s.item_id, s.kind, s.status, s.round, s.people, s.priority, s.place, i.set_id, s.unreserved
FROM standings AS s JOIN items AS i USING (item_id)
""")
_RESERVE = text("UPDATE standings SET unreserved = :unreserved WHERE item_id = :item_id")
_COLUMNS = [column.name for column in ASSIGNED.columns]


class ActiveAssignment(NamedTuple):
    """An assignment that has not ended, with the number of its items that are open, done, and
    waiting (not open yet).
    """

    assignment: Assignment
    made_by: str
    made_at: str
    n_open: int
    n_done: int
    n_waiting: int

    @property
    def n_items(self) -> int:
        """The number of items that the assignment covers."""
        return self.n_open + self.n_done + self.n_waiting


def current(connection: Connection) -> list[ActiveAssignment]:
    """Return active assignments with their progress, in the order they were made."""
    counted = connection.execute(_COUNTS)
    n_items = {(assignment_id, progress): n for assignment_id, progress, n in counted}
    return [
        ActiveAssignment(
            _assignment(row),
            row.made_by,
            row.made_at,
            *(n_items.get((row.assignment_id, each), 0) for each in get_args(Progress)),
        )
        for row in connection.execute(sql("assignments"))
    ]


def assignments(connection: Connection) -> list[Assignment]:
    """Return active assignments in the order they were made."""
    return [_assignment(row) for row in connection.execute(sql("assignments"))]


def assign(
    connection: Connection,
    annotator: str,
    role: str,
    made_by: str,
    *,
    kind: str | None = None,
    bucket: int | None = None,
    share: float = 1.0,
) -> None:
    """Assign a share of items to a person, in the round of their role.

    Each share starts where the previous share of the same items ends. Items that are queued later are
    assigned, too.

    Args:
        connection: The review store.
        annotator: The person.
        role: Their role.
        made_by: The person who assigns.
        kind: The kind of items; None for all kinds.
        bucket: The bucket, 1 to BUCKETS; None for all.
        share: The share, above 0 and at most 1.
    """
    round = ROUND_OF_ROLE[role]
    start = next_start(assignments(connection), round, kind, bucket)
    values = {
        **{"annotator": annotator, "round": round, "kind": kind, "bucket": bucket},
        **{"start": start, "share": share},
        **{"made_by": made_by, "made_at": database_time(connection)},
    }
    connection.execute(ASSIGNMENTS.insert(), values)
    renew(connection)


def end(connection: Connection, assignment_id: int, made_by: str) -> bool:
    """End an assignment; its undecided items become open to everybody. False if it is unknown."""
    if assignment_id not in {each.assignment_id for each in assignments(connection)}:
        return False
    _end(connection, [assignment_id], made_by)
    return True


def end_other_rounds(connection: Connection, annotator: str, round: int) -> None:
    """End a person's assignments of all rounds but one."""
    ended = [
        each.assignment_id
        for each in assignments(connection)
        if each.annotator == annotator and each.round != round
    ]
    if ended:
        _end(connection, ended, annotator)


def _end(connection: Connection, assignment_ids: Iterable[int], made_by: str) -> None:
    origin = {"made_by": made_by, "made_at": database_time(connection)}
    connection.execute(ASSIGNMENTS.insert(), [{"ends": each, **origin} for each in assignment_ids])
    renew(connection)


def renew(connection: Connection) -> None:
    """Recompute which items each assignment covers, from the stored status of the items."""
    connection.execute(text("DELETE FROM assigned"))
    all_assignments = assignments(connection)
    excluded: dict[str, set[str]] = defaultdict(set)
    # People who may not make the next decision on an item.
    for item_id, annotator in connection.execute(text("SELECT item_id, annotator FROM bars")):
        excluded[item_id].add(annotator)
    changed: list[dict[str, Any]] = []
    assigned: list[Row] = []
    for row in [each._asdict() for each in connection.execute(_STANDINGS)]:
        position = place_of(row["item_id"], row["set_id"]) if all_assignments else 0.0
        rows, n_reserved = rows_of(all_assignments, row, position, excluded.get(row["item_id"], ()))
        assigned += rows
        if row["people"] - n_reserved != row["unreserved"]:
            unreserved = row["people"] - n_reserved
            changed.append({"item_id": row["item_id"], "unreserved": unreserved})
    insert(connection, assigned)
    if changed:
        connection.execute(_RESERVE, changed)


def rows_of(
    all_assignments: Iterable[Assignment],
    item: Mapping[str, Any],
    position: float,
    excluded: Collection[str],
) -> tuple[list[Row], int]:
    """Find the people to whom an item is assigned.

    Args:
        all_assignments: The assignments that have not ended.
        item: item_id, kind, status, priority and place of the item's row in `standings`.
        position: The position of the item in its kind, 0 to 1.
        excluded: The people who may not make the next decision.

    Returns:
        A row for each person and round, and the number of people who have the item open.
    """
    rows: dict[tuple[str, int], tuple[int, str]] = {}
    for assignment in all_assignments:
        key = assignment.annotator, assignment.round
        if key not in rows and assignment.covers(item["kind"], position):
            progress = progress_of(
                item["status"], assignment.round, assignment.annotator in excluded
            )
            if progress is not None:
                rows[key] = assignment.assignment_id, progress
    n_open = Counter(progress for _, progress in rows.values())["open"]
    return [
        (item["item_id"], *key, *values, item["priority"], item["place"])
        for key, values in rows.items()
    ], n_open


def insert(connection: Connection, rows: Iterable[Row]) -> None:
    """Store the rows of `rows_of`."""
    values = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    if values:
        connection.execute(ASSIGNED.insert(), values)


def _assignment(row: RowOfQuery[Any]) -> Assignment:
    return Assignment(**{name: getattr(row, name) for name in _FIELDS})
