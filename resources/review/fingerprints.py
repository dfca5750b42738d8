"""Review progress, and hashes (fingerprints) of the review state.

Runs compare the hashes to see whether they are up to date.
"""

from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, select

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
