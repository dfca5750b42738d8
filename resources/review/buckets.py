"""Buckets: how far the offered items of each partition are.

What belongs here: counts over `standings` and `events` by bucket, and what says that one has moved.
"""

import sqlite3
from typing import NamedTuple

from methods.ids import content_id
from resources.review.file import sql


class Bucket(NamedTuple):
    """One partition: its items, how many of them await somebody, and decisions on them.

    `state` is another one after any decision on an item of it and with any other item or content.
    """

    bucket: str
    n_items: int = 0
    n_awaited: int = 0
    n_decisions: int = 0
    state: str = ""


def read(connection: sqlite3.Connection) -> list[Bucket]:
    """Every bucket that has offered items, in order."""
    return [
        Bucket(bucket, n_items, n_awaited, n_decisions, content_id(last_event, contents))
        for bucket, n_items, n_awaited, n_decisions, last_event, contents in connection.execute(
            sql("buckets")
        )
    ]
