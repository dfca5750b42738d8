"""Human review as pure functions.

`kinds.py`: the content of each kind of item, and what people may change in it. `decisions.py`: what a
decision is and when it is valid. `process.py`: the status of an item, and who may decide next.
`resolution.py`: what an item's decisions mean for a release. `differences.py`: what changed between two
contents.
"""

from methods.review.decisions import (
    POLICY_PREFIX,
    ROUNDS,
    VERDICTS,
    Decision,
    QueueItem,
    StaleDecision,
    Verdict,
    by_item,
    check_decision,
    queue_item,
    source_hash_of,
)
from methods.review.kinds import KINDS, REASONS, Kind
from methods.review.resolution import (
    REQUIRES,
    Policy,
    Require,
    Resolution,
    Status,
    resolve,
)

__all__ = [
    "KINDS",
    "POLICY_PREFIX",
    "REASONS",
    "REQUIRES",
    "ROUNDS",
    "VERDICTS",
    "Decision",
    "Kind",
    "Policy",
    "QueueItem",
    "Require",
    "Resolution",
    "StaleDecision",
    "Status",
    "Verdict",
    "by_item",
    "check_decision",
    "queue_item",
    "resolve",
    "source_hash_of",
]
