"""Review: the queue, what people decided, what is thereby approved, how far people agree."""

from assets.review.agreement import agreement
from assets.review.approved import approved
from assets.review.decisions import decisions
from assets.review.effort import effort
from assets.review.queue import queue, queue_row, queued_items, ratings_by_people

ASSETS = [queue, approved, agreement, effort]
OBSERVABLE = [decisions]
"""What is observed and never run."""

__all__ = [
    "ASSETS",
    "OBSERVABLE",
    "approved",
    "decisions",
    "queue",
    "queue_row",
    "queued_items",
    "ratings_by_people",
]
