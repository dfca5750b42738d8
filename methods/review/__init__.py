"""Human review as pure functions.

`kinds.py`: the content of each kind of item, and what people may change in it. `faults.py`: what is
wrong with a change. `decisions.py`: what a decision is and when it is valid. `process.py`: the status
of an item, and who may decide next. `resolution.py`: what an item's decisions mean for a release.
`differences.py`: what changed between two contents.
"""

from methods.review.decisions import (
    POLICY_PREFIX,
    ROUNDS,
    Decision,
    QueueItem,
    StaleDecision,
    by_item,
    check_decision,
    queue_item,
    source_hash_of,
)
from methods.review.kinds import KINDS, REASONS
from methods.review.resolution import (
    Resolution,
    ResolutionPolicy,
    resolve,
)

__all__ = [
    "KINDS",
    "POLICY_PREFIX",
    "REASONS",
    "ROUNDS",
    "Decision",
    "ResolutionPolicy",
    "QueueItem",
    "Resolution",
    "StaleDecision",
    "by_item",
    "check_decision",
    "queue_item",
    "resolve",
    "source_hash_of",
]
