"""Resolution (adjudication) of review decisions for a release: final content, and who approved it.

The policy of a release decides which items need human review (`ResolutionPolicy`). The review rules
decide how many people must review an item (`process.py`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from methods.review.decisions import POLICY_PREFIX, Decision, QueueItem
from methods.review.kinds import KINDS
from methods.review.process import ReviewState, Rules, in_sample, review_state

Status = Literal["approved", "rejected", "pending"]
Require = Literal["none", "sample", "all"]
"""Which items of a release need human review: none, a sample, or all."""

SHARE = 0.1
DEFAULT_RULES = Rules.model_validate({})

_STATUS: dict[str, Status] = {
    "approved": "approved",
    "rejected": "rejected",
    "to_rework": "rejected",
    "round_1": "pending",
    "round_2": "pending",
    "not_sampled": "pending",
}


class ResolutionPolicy(NamedTuple):
    """The policy of a release: which items need human review. The policy itself accepts other items.

    Attributes:
        require: Which items need human review.
        sample_share: The share of items for `sample`. The sample is selected by a hash of the item's
            id, so it is stable, and a larger sample contains a smaller one.
    """

    require: Require = "none"
    sample_share: float = SHARE

    @property
    def name(self) -> str:
        """The name of the policy among reviewers. No person can have such a name."""
        return POLICY_PREFIX + self.require

    @property
    def share(self) -> float:
        """The share of items that need human review."""
        return {"none": 0.0, "sample": self.sample_share, "all": 1.0}[self.require]

    def demands(self, item_id: str) -> bool:
        """Check whether the item needs human review."""
        return in_sample("release", item_id, self.share)


@dataclass(frozen=True)
class Resolution:
    """The outcome of an item's review: its status, final content, and who decided.

    Attributes:
        revision: The number of edits that count; 0 for the generated content.
        reviewers: The people whose decisions count, in order, with the policy's name for a round that
            the policy accepted.
        reason: The reason of a rejection.
        demanded: Whether the policy requires human review of this item.
        fault: The reason why an approved edit does not count: its content is not valid. The item is
            then pending. The review app and imports refuse such edits; earlier versions stored some.
    """

    item_id: str
    content_hash: str
    status: Status
    content: dict[str, Any]
    revision: int
    reviewers: tuple[str, ...]
    reason: str | None
    demanded: bool
    fault: str | None = None


def resolve(
    item: QueueItem,
    decisions: Iterable[Decision],
    policy: ResolutionPolicy,
    rules: Rules = DEFAULT_RULES,
) -> Resolution:
    """Resolve a queued item after its decisions.

    The rules decide when people have approved an item. If the policy does not require human review, it
    accepts the item in the rounds that nobody decided. It never overrules a person: a rejected item
    stays rejected, an expert decides if annotators disagree or change a rejected item, and an item that
    only people can complete (`ReviewKind.needs_edit`) stays pending.

    Args:
        item: The item.
        decisions: Decisions on any items, in the order of events.
        policy: The policy of the release.
        rules: The review rules.

    Returns:
        The outcome with its reviewers and content.
    """
    decisions = [decision for decision in decisions if decision.item_id == item["item_id"]]
    demanded = policy.demands(item["item_id"])
    state = review_state(item, decisions, rules)
    if not demanded:
        completed = _completed_by_policy(item, decisions, state, policy, rules)
        if not KINDS[item["kind"]].needs_edit(completed.item["content"]):
            state = completed
    status = _STATUS[state.status.name]
    rejections = [decision for decision in state.counted if decision.verdict == "reject"]
    resolution = Resolution(
        item_id=item["item_id"],
        content_hash=state.item["content_hash"],
        status=status,
        content=state.item["content"],
        revision=state.revision,
        reviewers=tuple(decision.reviewer for decision in state.counted),
        reason=rejections[-1].reason if rejections and status == "rejected" else None,
        demanded=demanded,
    )
    fault = _fault_of(item, state.item) if status == "approved" else None
    return replace(resolution, status="pending", fault=fault) if fault else resolution


def _fault_of(queued: QueueItem, edited: QueueItem) -> str | None:
    """Say why the content that edits made of a queued item is not valid; None if it is."""
    if edited["content_hash"] == queued["content_hash"]:
        return None
    try:
        KINDS[queued["kind"]].check(edited["content"], queued["content"])
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        return str(error)
    return None


def _completed_by_policy(
    item: QueueItem,
    decisions: list[Decision],
    state: ReviewState,
    policy: ResolutionPolicy,
    rules: Rules,
) -> ReviewState:
    """The state after the policy accepted the rounds in which nobody decided."""
    if state.status.name in ("round_1", "not_sampled"):
        # Here one of two annotators is enough: that decision counts, also if it is a rejection.
        rules = rules.model_copy(update={"annotators": 1, "sample": 1.0})
        state = review_state(item, decisions, rules)
    decisions = [*decisions]
    while state.status.name in ("round_1", "round_2") and not (
        state.is_disputed or state.is_rework
    ):
        # If round 1 is open, nobody has decided, so the policy accepts the item as queued.
        on = item if state.status.name == "round_1" else state.item
        decisions.append(_acceptance(on, state.status.round or 1, policy))
        state = review_state(item, decisions, rules)
    return state


def _acceptance(item: QueueItem, round: int, policy: ResolutionPolicy) -> Decision:
    """The decision of the policy to accept an item. It is never stored."""
    return Decision(
        item_id=item["item_id"],
        content_hash=item["content_hash"],
        round=round,
        reviewer=policy.name,
        verdict="accept",
        edits=None,
        reason=None,
        note=None,
        seconds=None,
        decided_at="",
    )
