"""Human review as pure functions: what is reviewed, what people decide, and what follows.

`kinds.py`: what each kind of item holds and what people may change of it. `decisions.py`: what a
decision is and when it is valid. `process.py`: who is needed next. `resolution.py`: what an item's
decisions come to, for a release. `differences.py`: what changed between two contents.
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
