"""Buckets: the review progress of each partition of the queue.

What belongs here: counts over item status and events by bucket, and a fingerprint of each bucket.
"""

import sqlite3
from typing import NamedTuple

from methods.ids import content_id
from resources.review.file import sql


class Bucket(NamedTuple):
    """One partition: how many items it has, how many of them need a decision, how many decisions.

    `fingerprint` changes with every decision on one of its items, and with its items and contents.
    """

    bucket: str
    n_items: int = 0
    n_open: int = 0
    n_decisions: int = 0
    fingerprint: str = ""


def read(connection: sqlite3.Connection) -> list[Bucket]:
    """Every bucket that has queued items, in order of its key."""
    return [
        Bucket(bucket, n_items, n_open, n_decisions, content_id(last_event, contents))
        for bucket, n_items, n_open, n_decisions, last_event, contents in connection.execute(
            sql("buckets")
        )
    ]
