"""Human review (annotation) as pure functions.

`kinds.py`: the content of each kind of item and its editable fields. `faults.py`: validation of edits.
`decisions.py`: decisions and their validation. `process.py`: the status of an item and the next
reviewer. `resolution.py`: the effect of an item's decisions on a release. `differences.py`: word
differences of two contents.
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
from methods.review.resolution import Resolution, ResolutionPolicy, resolve

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
