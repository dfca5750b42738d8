"""The effect of an item's decisions on a release: its final content and who approved it.

The policy of a release names the items that need people's decisions (`ResolutionPolicy`). The review
rules say how many people an item needs (`process.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from methods.ids import canonical_json
from methods.review.decisions import POLICY_PREFIX, Decision, QueueItem
from methods.review.kinds import KINDS
from methods.review.process import ReviewState, Rules, in_sample, review_state

Status = Literal["approved", "rejected", "pending"]
Require = Literal["none", "sample", "all"]
"""Which items a release demands people's decisions of: none, a sample, or all."""

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
    """The policy of a release: which items need people's decisions. It accepts the other ones itself.

    Attributes:
        sample_share: The share of items that the policy `sample` requires. They are selected by a hash
            of the item's id, so that the selection is stable and a larger share contains a smaller one.
    """

    require: Require = "none"
    sample_share: float = SHARE

    @property
    def name(self) -> str:
        """The policy's name among the reviewers; no person can have it."""
        return POLICY_PREFIX + self.require

    @property
    def share(self) -> float:
        """The share of items that need people's decisions."""
        return {"none": 0.0, "sample": self.sample_share, "all": 1.0}[self.require]

    def demands(self, item_id: str) -> bool:
        """Whether people must decide this item."""
        return in_sample("release", item_id, self.share)


@dataclass(frozen=True)
class Resolution:
    """The outcome of an item's review: its status, final content, and who decided.

    `revision` is 0 as generated and grows by one with each edit that counts. `reviewers` are the people
    whose decisions count, in order, with the policy's name for a round that the policy accepted.
    `demanded` says whether the policy demands people's decisions of this item.
    """

    item_id: str
    content_hash: str
    status: Status
    content: dict[str, Any]
    revision: int
    reviewers: tuple[str, ...]
    reason: str | None
    demanded: bool


def resolve(
    item: QueueItem,
    decisions: Iterable[Decision],
    policy: ResolutionPolicy,
    rules: Rules = DEFAULT_RULES,
) -> Resolution:
    """Resolve a queued item after its decisions.

    The rules say when people have approved an item. If the policy demands nobody, it accepts in the
    rounds that nobody decided, and never overrules a person: a rejected item stays rejected, where
    annotators disagree an expert decides, and an item that only people can complete (`Kind.needs_edit`)
    stays pending.

    Args:
        item: The item.
        decisions: Decisions on any items, in the order of events.
        policy: Of which items people's decisions are demanded.
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
    return Resolution(
        item_id=item["item_id"],
        content_hash=state.item["content_hash"],
        status=status,
        content=state.item["content"],
        revision=state.revision,
        reviewers=tuple(decision.reviewer for decision in state.counted),
        reason=rejections[-1].reason if rejections and status == "rejected" else None,
        demanded=demanded,
    )


def _completed_by_policy(
    item: QueueItem,
    decisions: list[Decision],
    state: ReviewState,
    policy: ResolutionPolicy,
    rules: Rules,
) -> ReviewState:
    """The state after the policy accepted the rounds in which nobody decided."""
    if state.status.name in ("round_1", "not_sampled"):
        # One of two annotators is enough here: that decision counts, a rejection included.
        rules = rules.model_copy(update={"annotators": 1, "sample": 1.0})
        state = review_state(item, decisions, rules)
    decisions = [*decisions]
    while state.status.name in ("round_1", "round_2") and not _disagree(state.annotator_decisions):
        # Nobody has decided round 1 where it is open, so it is on the item as queued.
        on = item if state.status.name == "round_1" else state.item
        decisions.append(_acceptance(on, state.status.round or 1, policy))
        state = review_state(item, decisions, rules)
    return state


def _disagree(votes: Sequence[Decision]) -> bool:
    return len({canonical_json([vote.verdict, vote.edits]) for vote in votes}) > 1


def _acceptance(item: QueueItem, round: int, policy: ResolutionPolicy) -> Decision:
    """The policy's acceptance, which is never stored."""
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
