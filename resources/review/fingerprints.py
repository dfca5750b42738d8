"""Review progress, and hashes (fingerprints) of the review state.

Runs and HTML pages compare the hashes to see whether they are up to date.
"""

from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, select, text

from methods.ids import content_id
from resources.review import item_status
from resources.review.statements import sql
from resources.review.tables import STANDINGS


class ReviewFingerprint(NamedTuple):
    """The progress of one kind of items: numbers of items, of items that need a decision, of decisions.

    `fingerprint` changes with every decision on one of the items, and with the items' contents.
    """

    kind: str
    n_items: int
    n_open: int
    n_decisions: int
    fingerprint: str


_IN_ORDER = (
    select(STANDINGS.c.item_id, STANDINGS.c.content_hash)
    .where(STANDINGS.c.kind == bindparam("of_kind"))
    .order_by(STANDINGS.c.item_id)
    .subquery()
)
_CONTENTS = select(
    func.aggregate_strings(_IN_ORDER.c.item_id + " " + _IN_ORDER.c.content_hash, ",")
)
_CHANGES = text("""
SELECT
    (SELECT coalesce(max(event_id), 0) FROM events) + (SELECT count(*) FROM revocations),
    (SELECT count(*) FROM gold),
    (SELECT rules FROM rules)
""")
_PEOPLE = text("SELECT DISTINCT reviewer FROM events ORDER BY reviewer")
_ITEMS_OF_KINDS = text("SELECT kind, count(*) FROM standings GROUP BY kind ORDER BY kind")


def completion(connection: Connection) -> list[ReviewFingerprint]:
    """Return the progress of each kind that has queued items, sorted by kind, from one snapshot."""
    fingerprints = []
    for row in connection.execute(sql("completion")).all():
        contents = connection.execute(_CONTENTS, {"of_kind": row.kind}).scalar()
        ended = filter(None, [row.last_revocation])
        fingerprint = content_id(row.last_event, *ended, contents)
        fingerprints.append(
            ReviewFingerprint(row.kind, row.n_items, row.n_open, row.n_decisions, fingerprint)
        )
    return fingerprints


def decided(connection: Connection) -> str:
    """Return a hash of decisions, their items and the rules, from one snapshot."""
    rows = connection.execute(sql("decided")).all()
    states = []
    for item, decisions in groupby(
        rows, lambda row: (row.kind, row.item_id, row.content_hash, row.withdrawn)
    ):
        item_decisions = list(decisions)
        ended = [row.revocation_id for row in item_decisions if row.revocation_id is not None]
        reviewers = "\n".join(row.reviewer for row in item_decisions)
        states.append(
            [
                *item,
                len(item_decisions),
                item_decisions[-1].event_id,
                max(ended, default=None),
                reviewers,
            ]
        )
    rules = item_status.current_rules(connection)
    return content_id(rules.model_dump_json(), *states)


def changes(connection: Connection) -> tuple[int, str]:
    """Return the version of the review data, from one snapshot.

    Returns:
        A number that grows with each decision and each revocation, and a hash of items, gold items,
        rules and names of people.
    """
    n_changes, *rest = connection.execute(_CHANGES).one()
    people = connection.execute(_PEOPLE).scalars().all()
    kinds = [f"{kind} {n_items}" for kind, n_items in connection.execute(_ITEMS_OF_KINDS)]
    return int(n_changes), content_id(*map(str, rest), list(people), kinds)
