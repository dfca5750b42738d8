"""Review: the queue, what people decided, what is thereby approved, how far people agree."""

import dagster as dg

from assets.review.agreement import agreement
from assets.review.approved import approved, decisions
from assets.review.effort import effort
from assets.review.queue import queue, queue_row, queued

ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [queue, decisions, approved, agreement, effort]

__all__ = ["ASSETS", "approved", "decisions", "queue", "queue_row", "queued"]
