"""Ledger: what model calls cost, in the warehouse."""

from assets.ledger.calls import calls
from assets.ledger.costs import costs

ASSETS = [calls, costs]

__all__ = ["ASSETS", "calls", "costs"]
