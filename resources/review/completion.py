"""Completion: how far people are with each kind of queued items.

What belongs here: counts over item status and events by kind, and a fingerprint of each kind.
"""

import sqlite3
from typing import NamedTuple

from methods.ids import content_id
from resources.review.file import sql


class Completion(NamedTuple):
    """One kind: how many items it has, how many of them need a decision, how many decisions.

    `fingerprint` changes with every decision on one of its items, and with its items and contents.
    """

    kind: str
    n_items: int
    n_open: int
    n_decisions: int
    fingerprint: str


def read(connection: sqlite3.Connection) -> list[Completion]:
    """Every kind that has queued items, in order of its name."""
    return [
        Completion(kind, n_items, n_open, n_decisions, content_id(last_event, contents))
        for kind, n_items, n_open, n_decisions, last_event, contents in connection.execute(
            sql("completion")
        )
    ]
