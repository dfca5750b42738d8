"""The hash (fingerprint) of people's decisions, by which runs see whether they are up to date."""

from collections.abc import Collection
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection

from methods.ids import content_id
from resources.review import item_status
from resources.review.statements import sql


class ReviewFingerprint(NamedTuple):
    """The number of valid decisions on queued items, and a hash of all decisions, their items and the
    rules. The hash does not depend on other queued items, locks or drafts.
    """

    n_decisions: int
    fingerprint: str


def decided(connection: Connection, kinds: Collection[str] | None = None) -> ReviewFingerprint:
    """Return the number and the hash of the decisions on items of some kinds; None for all kinds."""
    rows = [row for row in connection.execute(sql("decided")) if kinds is None or row.kind in kinds]
    states = []
    for item, decisions in groupby(
        rows, lambda row: (row.kind, row.item_id, row.content_hash, row.withdrawn)
    ):
        item_decisions = list(decisions)
        ended = [row.revocation_id for row in item_decisions if row.revocation_id is not None]
        reviewers = "\n".join(row.reviewer for row in item_decisions)
        last = item_decisions[-1].event_id
        states.append([*item, len(item_decisions), last, max(ended, default=None), reviewers])
    rules = item_status.current_rules(connection)
    n_decisions = sum(row.withdrawn == 0 and row.revocation_id is None for row in rows)
    return ReviewFingerprint(n_decisions, content_id(rules.model_dump_json(), *states))
