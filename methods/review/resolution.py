"""What an item's decisions come to for a release: its final content and who stands behind it.

A release says which items people must have seen (`Policy`); the rules of the process say what people
that takes (`process.py`). What belongs here: the standing of an item under both. What does not: the
course of the decisions itself, and whom an item awaits.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from methods.ids import canonical_json
from methods.review.decisions import POLICY_PREFIX, Decision, QueueItem
from methods.review.kinds import KINDS
from methods.review.process import Course, Rules, course_of, drawn

Status = Literal["approved", "rejected", "pending"]
Require = Literal["none", "sample", "all"]
"""Of which items a release demands people's decisions: of none, of a sample, of all."""

REQUIRES: tuple[str, ...] = get_args(Require)
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


class Policy(NamedTuple):
    """What a release demands of people; what it does not demand, it lets through under its name.

    `sample_share` is the share of items that `sample` demands, chosen by a hash of the item's id, so
    that none ever moves in or out, and a larger share has all that a smaller one has.
    """

    require: Require = "none"
    sample_share: float = SHARE

    @property
    def name(self) -> str:
        """What stands where a person would: never a person's name."""
        return POLICY_PREFIX + self.require

    @property
    def share(self) -> float:
        """The share of items that it demands people's decisions of."""
        return {"none": 0.0, "sample": self.sample_share, "all": 1.0}[self.require]

    def demands(self, item_id: str) -> bool:
        """Whether the item is one that people must have decided."""
        return drawn("release", item_id, self.share)


@dataclass(frozen=True)
class Resolution:
    """Where an item stands: its final content, that content's hash and who stands behind it.

    `revision` is 0 as generated and one more for each edit that stands. `reviewers` are those whose
    decisions led here, in order; where a round was left to the policy, the policy's name. `demanded`
    says whether the policy demanded people.
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
    policy: Policy,
    rules: Rules = DEFAULT_RULES,
) -> Resolution:
    """What the decisions make of the item, as it was offered.

    Approved by people is what the rules call so. A policy fills what is left only where it demands
    nobody, and never against a person: what somebody rejected stays rejected, where annotators
    disagree an expert decides, and what only people can fill in (`Kind.needs_edit`) waits for them.
    """
    decisions = [each for each in decisions if each.item_id == item["item_id"]]
    demanded = policy.demands(item["item_id"])
    course = course_of(item, decisions, rules)
    if not demanded:
        filled = _filled(item, decisions, course, policy, rules)
        if not KINDS[item["kind"]].needs_edit(filled.item["content"]):
            course = filled
    status = _STATUS[course.stage.status]
    rejections = [each for each in course.counted if each.verdict == "reject"]
    return Resolution(
        item_id=item["item_id"],
        content_hash=course.item["content_hash"],
        status=status,
        content=course.item["content"],
        revision=course.revision,
        reviewers=tuple(each.reviewer for each in course.counted),
        reason=rejections[-1].reason if rejections and status == "rejected" else None,
        demanded=demanded,
    )


def _filled(
    item: QueueItem, decisions: list[Decision], course: Course, policy: Policy, rules: Rules
) -> Course:
    """The course when the policy accepts, round after round, what nobody decided."""
    if course.stage.status in ("round_1", "not_sampled"):
        # One of two annotators is enough here: what they said stands, a rejection included.
        rules = rules.model_copy(update={"annotators": 1, "sample": 1.0})
        course = course_of(item, decisions, rules)
    decisions = [*decisions]
    while course.stage.status in ("round_1", "round_2") and not _disagree(course.first):
        # Nobody has decided round 1 where it is open, so it is on the item as offered.
        on = item if course.stage.status == "round_1" else course.item
        decisions.append(_acceptance(on, course.stage.round or 1, policy))
        course = course_of(item, decisions, rules)
    return course


def _disagree(votes: Sequence[Decision]) -> bool:
    return len({canonical_json([vote.verdict, vote.edits]) for vote in votes}) > 1


def _acceptance(item: QueueItem, round: int, policy: Policy) -> Decision:
    """The policy's own acceptance; it is stored nowhere."""
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
