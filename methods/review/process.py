"""The review process (annotation workflow) as a state machine: which decision an item needs next.

Items are reviewed in two rounds, as in MMDU and ConvBench (section 3 of each): annotators, then an
expert. Items may be sampled, as for MMDU's instruction set. Rejected items are reworked, as in
AlignMMBench's second phase.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from methods.ids import canonical_json, content_id, seeded_fraction
from methods.naming import nearest
from methods.review.decisions import Decision, QueueItem
from methods.review.kinds import KINDS

Status = Literal["round_1", "round_2", "to_rework", "rejected", "approved", "not_sampled"]
"""`round_1` and `round_2`: the round needs a decision. `to_rework`: an expert rejected the item, and an
annotator should edit it. `rejected`: annotators rejected it; nobody needs to decide, but an annotator
may still edit it. `approved`: finished. `not_sampled`: the item is not reviewed."""

DONE: tuple[Status, ...] = ("approved", "rejected", "not_sampled")
"""Statuses of items that need no decision."""

ROUND_OF_ROLE: dict[str, int] = {"annotator": 1, "expert": 2, "admin": 2}
"""The round in which each role decides. Experts do not decide in round 1, because nobody may decide an
item in both rounds, and a review may have a single expert."""
ROLE_OF_ROUND = {round_: role for role, round_ in reversed(ROUND_OF_ROLE.items())}
"""The lowest role that may decide in a round."""


def _no_bool(value: object) -> object:
    """Reject true and false, which Python accepts as the numbers 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")
    return value


_NO_BOOL = BeforeValidator(_no_bool)
Share = Annotated[float, Field(ge=0, le=1), _NO_BOOL]


class Rules(BaseModel):
    """The review rules of a kind of items. The fields' descriptions list the valid values.

    Attributes:
        annotators: The number of annotators per item: 1, or 2 who do not see each other's decisions.
        expert: Which items an expert decides although the annotators agree: none (`none` and
            `disagreement`), the share `expert_share` (`sample`) or `all`. An expert always decides
            items on which annotators disagree.
        expert_share: The share of items for `sample`.
        sample: The share of items that people review.
        quota: The most decisions of a person on one day (UTC); None for no limit.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    annotators: Annotated[Literal[1, 2], _NO_BOOL] = Field(1, description="1 or 2")
    expert: Literal["none", "disagreement", "sample", "all"] = Field(
        "all", description="none, disagreement, sample or all"
    )
    expert_share: Share = Field(0.1, description="a number from 0 to 1")
    sample: Share = Field(1.0, description="a number from 0 to 1")
    quota: Annotated[Annotated[int, Field(ge=1)] | None, _NO_BOOL] = Field(
        None, description="a whole number from 1 up"
    )


class Calibration(BaseModel):
    """Calibration of new annotators: they must decide at least the share `hits` of their last `items`
    gold items right.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    items: Annotated[int, Field(ge=1), _NO_BOOL] = Field(10, description="a whole number from 1 up")
    hits: Share = Field(0.8, description="a number from 0 to 1")


class RuleBook(BaseModel):
    """The review rules of all kinds of items, and the settings of the queue.

    Attributes:
        default: The rules of all kinds that are not in `kinds`.
        kinds: Rules by kind.
        priorities: The criteria that order the queue, the most important first (`assignment.py`).
        after_assigned: What a person gets after all assigned items are done: nothing (`none`), items
            that are not reserved for others (`unassigned`), or any item (`any`). People without an
            assignment get unreserved items under `none`, too.
        gold: The share of gold items among the items that annotators decide.
        calibration: The calibration that new annotators must pass; None for none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    default: Rules = Field(
        default=Rules.model_validate({}), description="rules, such as {annotators: 2}"
    )
    kinds: dict[str, Rules] = Field(
        default={}, description="rules by kind, such as {dialogue: {annotators: 2}}"
    )
    priorities: tuple[Literal["quality", "disagreement", "coverage"], ...] = Field(
        default=("disagreement", "quality"),
        description="a list of any of disagreement, quality and coverage",
    )
    after_assigned: Literal["none", "unassigned", "any"] = Field(
        default="unassigned", description="none, unassigned or any"
    )
    gold: Annotated[float, Field(ge=0, le=0.5), _NO_BOOL] = Field(
        default=0.0, description="a number from 0 to 0.5"
    )
    calibration: Calibration | None = Field(
        default=None, description="what must be passed, such as {items: 10, hits: 0.8}"
    )

    @field_validator("kinds")
    @classmethod
    def _known_kinds(cls, kinds: dict[str, Rules]) -> dict[str, Rules]:
        for kind in kinds:
            if kind not in KINDS:
                raise ValueError(f"there is no kind {kind!r}; {nearest(kind, KINDS)}")
        return kinds

    @property
    def uses_gold(self) -> bool:
        """Whether people get gold items."""
        return self.gold > 0 or self.calibration is not None

    def rules_for(self, kind: str) -> Rules:
        """Return the rules for items of a kind."""
        return self.kinds.get(kind, self.default)

    def people(self, kind: str | None, round: int) -> int:
        """Return how many people decide an item.

        Args:
            kind: The kind of the item; None for the largest number of all kinds.
            round: The round.
        """
        if round != 1:
            return 1
        kinds = KINDS if kind is None else [kind]
        return max(self.rules_for(each).annotators for each in kinds)


class ItemStatus(NamedTuple):
    """The status of an item, and the number of further people who must decide in its current round."""

    name: Status
    people_needed: int = 0

    @property
    def round(self) -> int | None:
        """The round of the next decision; None when the item takes no more decisions."""
        return {"round_1": 1, "to_rework": 1, "rejected": 1, "round_2": 2}.get(self.name)


@dataclass(frozen=True)
class ReviewState:
    """The state of an item after a list of decisions.

    Attributes:
        item: The item with the content to decide on next. In round 1 it is as queued. In round 2 it has
            the edits on which the annotators agree, or is as queued if they disagree. A rejected item
            has the rejected content.
        annotator_decisions: The valid decisions of round 1. While round 1 is open, annotators do not
            see them.
        expert_decision: The decision of round 2, or None.
        counted: All decisions that led to this state, in order.
        excluded: The people who must not make the next decision.
        revision: The number of valid edits.
    """

    item: QueueItem
    status: ItemStatus
    annotator_decisions: tuple[Decision, ...]
    expert_decision: Decision | None
    counted: tuple[Decision, ...]
    excluded: frozenset[str]
    revision: int

    @property
    def is_blind(self) -> bool:
        """Whether round 1 is open, in which annotators do not see each other's decisions."""
        return self.status.name in ("round_1", "not_sampled")

    @property
    def is_disputed(self) -> bool:
        """Whether the annotators decided differently."""
        return len({_outcome(vote) for vote in self.annotator_decisions}) > 1

    @property
    def is_rework(self) -> bool:
        """Whether the last decisions are on the rework of a rejected content."""
        n_last = len(self.annotator_decisions) + (self.expert_decision is not None)
        return len(self.counted) > n_last


def review_state(item: QueueItem, decisions: Iterable[Decision], rules: Rules) -> ReviewState:
    """Compute the state of a queued item.

    In each round the last decision of each person counts. If more people decided than the round needs,
    the latest decisions count.

    Args:
        item: The item.
        decisions: Decisions on any items. Decisions on an outdated content of the item do not count.
        rules: The rules of review.
    """
    cycle = _Cycle(item, rules, rules.annotators, skips=set())
    events = [decision for decision in decisions if decision.item_id == item["item_id"]]
    # A decision that is not stored yet comes after all stored ones.
    events.sort(key=lambda event: (event.event_id is None, event.event_id or 0))
    for event in events:
        state = cycle.state()
        if _starts_rework(event, state):
            cycle = _Cycle(
                state.item, rules, 1, cycle.skips, state, cycle.annotators, cycle.experts
            )
        cycle.add(event)
    return cycle.state()


def in_sample(purpose: str, item_id: str, share: float) -> bool:
    """Check whether an item is in a sample, by a hash of its id, so that the sample never changes.

    Args:
        purpose: The purpose of the sample. Different purposes have independent samples.
        item_id: The item.
        share: The share of the sample, 0 to 1.

    Returns:
        True if the item is in the sample.
    """
    return seeded_fraction(purpose, item_id) < share


def _starts_rework(event: Decision, state: ReviewState) -> bool:
    """Whether the event is an annotator's edit or renewed rejection of a rejected item."""
    return (
        state.status.name in ("to_rework", "rejected")
        and event.round == 1
        and event.verdict in ("edit", "reject")
        and event.content_hash == state.item["content_hash"]
    )


@dataclass
class _Cycle:
    """Both rounds on one content. The first cycle is on the queued content, and each rework of a
    rejected content starts a new cycle.
    """

    item: QueueItem
    rules: Rules
    n_annotators: int
    skips: set[tuple[str, int, str]]
    previous: ReviewState | None = None
    annotators: frozenset[str] = frozenset()
    experts: frozenset[str] = frozenset()
    votes: dict[str, Decision] = field(default_factory=dict)
    expert_votes: list[Decision] = field(default_factory=list)

    def add(self, event: Decision) -> None:
        """Add one event. An event on another content does not change the state."""
        if event.verdict == "skip":
            self.skips.add((event.reviewer, event.round, event.content_hash))
        elif event.round == 2:
            self.expert_votes.append(event)
            self.experts |= {event.reviewer}
        elif event.content_hash == self.item["content_hash"] and (
            self.previous is None or event.verdict != "accept"
        ):
            # The dictionary keeps the order of the last decisions.
            self.votes.pop(event.reviewer, None)
            self.votes[event.reviewer] = event
            self.annotators |= {event.reviewer}

    def state(self) -> ReviewState:
        """Compute the state after the events so far."""
        votes = tuple(self.votes.values())[-self.n_annotators :]
        complete = len(votes) == self.n_annotators
        agreed = complete and len({_outcome(vote) for vote in votes}) == 1
        base = _with_edits(self.item, votes[0]) if agreed else self.item
        on_base = [vote for vote in self.expert_votes if vote.content_hash == base["content_hash"]]
        expert = on_base[-1] if on_base else None
        status = self._status(votes, complete, agreed, expert)
        edits = [*votes[:1], expert] if agreed else [expert]
        return ReviewState(
            item=_with_edits(base, expert),
            status=status,
            annotator_decisions=votes,
            expert_decision=expert,
            counted=(
                *(self.previous.counted if self.previous else ()),
                *votes,
                *((expert,) if expert else ()),
            ),
            excluded=self._excluded(status, base["content_hash"]),
            revision=(self.previous.revision if self.previous else 0)
            + sum(edit is not None and edit.edits is not None for edit in edits),
        )

    def _status(
        self, votes: tuple[Decision, ...], complete: bool, agreed: bool, expert: Decision | None
    ) -> ItemStatus:
        if expert is not None and expert.verdict == "reject":
            # If an annotator rejected the item, too, rework is not worth the time.
            rejected_by_both = any(vote.verdict == "reject" for vote in votes)
            return ItemStatus("rejected") if rejected_by_both else ItemStatus("to_rework", 1)
        if not complete:
            undecided = not votes and expert is None
            if undecided and not in_sample("sample", self.item["item_id"], self.rules.sample):
                return ItemStatus("not_sampled")
            return ItemStatus("round_1", self.n_annotators - len(votes))
        if agreed and votes[0].verdict == "reject":
            return ItemStatus("rejected")
        if expert is not None or (agreed and not self._needs_expert()):
            return ItemStatus("approved")
        return ItemStatus("round_2", 1)

    def _needs_expert(self) -> bool:
        if self.previous is not None or self.rules.expert == "all":
            return True
        share = self.rules.expert_share if self.rules.expert == "sample" else 0.0
        return in_sample("expert", self.item["item_id"], share)

    def _excluded(self, status: ItemStatus, content_hash: str) -> frozenset[str]:
        if status.round is None:
            return frozenset()
        skipped = {name for name, *what in self.skips if what == [status.round, content_hash]}
        if status.name == "round_2":
            return self.annotators | skipped
        if status.name == "round_1":
            return self.annotators | self.experts | skipped
        # Annotators may rework the item they decided on: that is a correction, no second opinion.
        return self.experts | skipped


def _with_edits(item: QueueItem, decision: Decision | None) -> QueueItem:
    if decision is None or decision.edits is None:
        return item
    return {**item, "content": decision.edits, "content_hash": content_id(decision.edits)}


def _outcome(decision: Decision) -> str:
    return canonical_json([decision.verdict, decision.edits])
