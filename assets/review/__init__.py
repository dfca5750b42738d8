"""Review: the queue, what people decided, and what is thereby approved."""

import dagster as dg

from assets.review.approved import approved, decisions
from assets.review.queue import queue, queued, score_queue_asset

ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [queue, decisions, approved]

__all__ = ["ASSETS", "approved", "queue", "queued", "score_queue_asset"]
