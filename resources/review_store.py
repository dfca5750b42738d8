"""The review store under its public name; what it is made of stands in `resources/review/`."""

from resources.review.claims import LOCK_SECONDS, Claim, LockLost
from resources.review.items import Filters, Offered, Progress, Summary
from resources.review.rules import RulesError
from resources.review.store import ReviewStore

__all__ = [
    "LOCK_SECONDS",
    "Claim",
    "Filters",
    "LockLost",
    "Offered",
    "Progress",
    "ReviewStore",
    "RulesError",
    "Summary",
]
