"""What an item awaits: the rules of the process, applied to the decisions made so far.

Two rounds as in MMDU and ConvBench (section 3 of each): annotators, then an expert; sampling as for
MMDU's instruction set; answers that are sent back and mended as in AlignMMBench's second phase. What
belongs here: who is needed next, and who may not be it. What does not: what a decision must look
like, and where decisions, locks and drafts are kept (`resources/review/`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from methods.ids import canonical_json, content_id
from methods.review.decisions import Decision, QueueItem
from methods.review.kinds import KINDS

Status = Literal["round_1", "round_2", "to_rework", "rejected", "approved", "not_sampled"]
Role = Literal["annotator", "expert", "admin"]

ROUND_OF_ROLE: dict[str, int] = {"annotator": 1, "expert": 2, "admin": 2}
"""A role has one round: the only expert must not use up, in round 1, what waits for round 2."""

_SHARE_DIGITS = 8


class Rules(BaseModel):
    """How the items of a kind are reviewed.

    `annotators` is 1, or 2 who do not see each other's work. `expert` says which items on which the
    annotators agree have a second round: none, none (`disagreement`), a share of `expert_share`
    (`sample`) or all; where they disagree there is always one. `sample` is the share of items that
    people see at all. `quota` is the most decisions of one person on one day (UTC), None for any.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    annotators: Literal[1, 2] = 1
    expert: Literal["none", "disagreement", "sample", "all"] = "all"
    expert_share: float = Field(0.1, ge=0, le=1)
    sample: float = Field(1.0, ge=0, le=1)
    quota: int | None = Field(None, ge=1)


class RuleBook(BaseModel):
    """The rules of every kind: its own ones, or else the default ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    default: Rules = Rules.model_validate({})
    kinds: dict[str, Rules] = {}

    @field_validator("kinds")
    @classmethod
    def _kinds_there_are(cls, kinds: dict[str, Rules]) -> dict[str, Rules]:
        for kind in kinds:
            if kind not in KINDS:
                raise ValueError(f"there is no kind {kind!r}; they are {', '.join(KINDS)}")
        return kinds

    def of(self, kind: str) -> Rules:
        """The rules that items of `kind` follow."""
        return self.kinds.get(kind, self.default)


class Stage(NamedTuple):
    """What an item awaits: `people` more of them in a round (or to rework it), or nobody.

    `to_rework` was rejected by an expert, and goes back to annotators. `rejected` was rejected by
    annotators, and waits for nobody; who wants to may still take it up. `not_sampled` is not for
    people to see.
    """

    status: Status
    people: int = 0

    @property
    def round(self) -> int | None:
        """The round that a decision would be in now; None when the item takes none."""
        return {"round_1": 1, "to_rework": 1, "rejected": 1, "round_2": 2}.get(self.status)


@dataclass(frozen=True)
class Course:
    """Where the decisions have brought an item.

    `item` has the content and hash that the next decision is made on: as offered in round 1; in
    round 2 with the edits that the annotators agree on, or as offered where they do not agree; when
    rejected, the content that was rejected. `first` are the round-1 decisions that count now (blind
    ones, before round 1 is complete), `final` the round-2 one. `counted` are all that led here, in
    order. `barred` may not make the next decision. `revision` counts the edits that stand.
    """

    item: QueueItem
    stage: Stage
    first: tuple[Decision, ...]
    final: Decision | None
    counted: tuple[Decision, ...]
    barred: frozenset[str]
    revision: int


def stage_of(item: QueueItem, decisions: Iterable[Decision], rules: Rules) -> Stage:
    """What the item, as offered, awaits after `decisions` (of any items, in the order of events)."""
    return course_of(item, decisions, rules).stage


def course_of(item: QueueItem, decisions: Iterable[Decision], rules: Rules) -> Course:
    """Where `decisions` have brought the item; those on contents that no longer stand do not count.

    The last decision of a person in a round wins; of more people than a round needs, the last ones.
    """
    turn = _Turn(item, rules, rules.annotators, skips=set())
    events = [each for each in decisions if each.item_id == item["item_id"]]
    # What is not stored yet comes after what is.
    events.sort(key=lambda event: (event.event_id is None, event.event_id or 0))
    for event in events:
        stood = turn.course()
        if _takes_up(event, stood):
            turn = _Turn(stood.item, rules, 1, turn.skips, stood, turn.annotators, turn.experts)
        turn.add(event)
    return turn.course()


def drawn(purpose: str, item_id: str, share: float) -> bool:
    """Whether an item is in a share of all: by its id alone, so that it is so for ever."""
    place = int(content_id(purpose, item_id)[:_SHARE_DIGITS], 16)
    return place < share * 16**_SHARE_DIGITS


def _takes_up(event: Decision, stood: Course) -> bool:
    """Whether the event is the rework of what stands rejected: mended, or given up."""
    return (
        stood.stage.status in ("to_rework", "rejected")
        and event.round == 1
        and event.verdict in ("edit", "reject")
        and event.content_hash == stood.item["content_hash"]
    )


@dataclass
class _Turn:
    """Both rounds on one content: in the first turn as offered, in a later one as rejected."""

    item: QueueItem
    rules: Rules
    people: int
    skips: set[tuple[str, int, str]]
    earlier: Course | None = None
    annotators: frozenset[str] = frozenset()
    experts: frozenset[str] = frozenset()
    votes: dict[str, Decision] = field(default_factory=dict)
    finals: list[Decision] = field(default_factory=list)

    def add(self, event: Decision) -> None:
        """Take in one more event; one on another content changes nothing."""
        if event.verdict == "skip":
            self.skips.add((event.reviewer, event.round, event.content_hash))
        elif event.round == 2:
            self.finals.append(event)
            self.experts |= {event.reviewer}
        elif event.content_hash == self.item["content_hash"] and (
            self.earlier is None or event.verdict != "accept"
        ):
            # Last in the dictionary is who decided last.
            self.votes.pop(event.reviewer, None)
            self.votes[event.reviewer] = event
            self.annotators |= {event.reviewer}

    def course(self) -> Course:
        """Where the events so far have brought the item."""
        votes = tuple(self.votes.values())[-self.people :]
        complete = len(votes) == self.people
        agreed = complete and len({_outcome(vote) for vote in votes}) == 1
        base = _after(self.item, votes[0]) if agreed else self.item
        finals = [each for each in self.finals if each.content_hash == base["content_hash"]]
        final = finals[-1] if finals else None
        stage = self._stage(votes, complete, agreed, final)
        edits = [*votes[:1], final] if agreed else [final]
        return Course(
            item=_after(base, final),
            stage=stage,
            first=votes,
            final=final,
            counted=(
                *(self.earlier.counted if self.earlier else ()),
                *votes,
                *((final,) if final else ()),
            ),
            barred=self._barred(stage, base["content_hash"]),
            revision=(self.earlier.revision if self.earlier else 0)
            + sum(each is not None and each.edits is not None for each in edits),
        )

    def _stage(
        self, votes: tuple[Decision, ...], complete: bool, agreed: bool, final: Decision | None
    ) -> Stage:
        if final is not None and final.verdict == "reject":
            # What an annotator rejected, too, is not worth another one's time.
            given_up = any(vote.verdict == "reject" for vote in votes)
            return Stage("rejected") if given_up else Stage("to_rework", 1)
        if not complete:
            nobody_yet = not votes and final is None
            if nobody_yet and not drawn("sample", self.item["item_id"], self.rules.sample):
                return Stage("not_sampled")
            return Stage("round_1", self.people - len(votes))
        if agreed and votes[0].verdict == "reject":
            return Stage("rejected")
        if final is not None or (agreed and not self._expert_is_due()):
            return Stage("approved")
        return Stage("round_2", 1)

    def _expert_is_due(self) -> bool:
        if self.earlier is not None or self.rules.expert == "all":
            return True
        share = self.rules.expert_share if self.rules.expert == "sample" else 0.0
        return drawn("expert", self.item["item_id"], share)

    def _barred(self, stage: Stage, content_hash: str) -> frozenset[str]:
        if stage.round is None:
            return frozenset()
        skipped = {name for name, *what in self.skips if what == [stage.round, content_hash]}
        if stage.status == "round_2":
            return self.annotators | skipped
        if stage.status == "round_1":
            return self.annotators | self.experts | skipped
        # Mending one's own work is no second opinion on it: who annotated it may do so.
        return self.experts | skipped


def _after(item: QueueItem, decision: Decision | None) -> QueueItem:
    if decision is None or decision.edits is None:
        return item
    return {**item, "content": decision.edits, "content_hash": content_id(decision.edits)}


def _outcome(decision: Decision) -> str:
    return canonical_json([decision.verdict, decision.edits])
