"""Assignments of items to reviewers, and the order of items."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from methods.ids import content_id, seeded_fraction
from methods.review.process import ReviewState

BUCKETS = 16
"""Image sets are in so many buckets by a hash, so that the items of one set go to the same person."""
PLACES = 10**9
"""Places of items, and where shares begin and end, are told apart by so much of a whole."""

Priority = Literal["quality", "disagreement", "coverage"]
_STEPS = 1000
"""How finely coverage is told apart."""
_ROUNDING = 1e-9
"""Places that differ by less are the same: shares are sums of floating-point numbers."""
FIRST = -1
"""The priority of what an expert gave back: it comes before everything else."""

Progress = Literal["open", "done", "waiting"]


@dataclass(frozen=True)
class Assignment:
    """Items that a reviewer decides in a round: a share of a kind and a bucket.

    Each item has a position from 0 to 1, the hash of its image set. The assignment has the items from
    `start` on, and continues at 0 after 1.

    Attributes:
        kind: The kind of items; None for all kinds.
        bucket: The bucket, 1 to BUCKETS; None for all buckets.
        share: The share of these items, above 0 and at most 1.
    """

    assignment_id: int
    annotator: str
    round: int
    kind: str | None
    bucket: int | None
    start: float
    share: float

    def covers(self, kind: str, place: float) -> bool:
        """Tell whether an item is assigned.

        Args:
            kind: The kind of the item.
            place: The position of the item, 0 to 1.

        Returns:
            Whether it is.
        """
        if self.kind not in (None, kind):
            return False
        bucket, within = divmod(place * BUCKETS, 1)
        if self.bucket is not None:
            if bucket + 1 != self.bucket:
                return False
            place = within
        # Parts that meet share no item: their ends are whole numbers.
        behind = int(place * PLACES) - round(self.start * PLACES)
        return behind % PLACES < round(self.share * PLACES)


def place_of(item_id: str, set_id: str | None) -> float:
    """Compute the place of an item, by which items are assigned.

    Args:
        item_id: The item.
        set_id: Its image set, whose items have the same place; None for none.

    Returns:
        A number from 0 to 1.
    """
    return seeded_fraction("assignment", set_id or item_id)


def next_start(
    assignments: Iterable[Assignment], round: int, kind: str | None, bucket: int | None
) -> float:
    """Compute where the next share of the same items begins; shares only overlap beyond a whole.

    Args:
        assignments: The assignments so far.
        round: The round.
        kind: The kind of items; None for all.
        bucket: The bucket of items; None for all.

    Returns:
        A number from 0 to 1.
    """
    same = [
        assignment.share
        for assignment in assignments
        if (assignment.round, assignment.kind, assignment.bucket) == (round, kind, bucket)
    ]
    return sum(same) % 1


class AssignmentDoubt(NamedTuple):
    """A possible mistake in an assignment.

    Attributes:
        why: `over`: more reviewers (`people`) are assigned some of the items than decide each (`most`).
            `twice`: an earlier assignment gives the reviewer some of the items. `none`: there are no
            items.
    """

    why: Literal["over", "twice", "none"]
    assignment: Assignment
    people: int = 0
    most: int = 0


def doubts(
    assignments: Sequence[tuple[Assignment, int]],
    people: Callable[[str | None, int], int],
    kinds: Iterable[str],
) -> list[AssignmentDoubt]:
    """Find what is doubtful about assignments.

    Args:
        assignments: The assignments, each with the number of its items.
        people: Gives how many people decide an item of a kind in a round.
        kinds: The kinds that are queued.

    Returns:
        The doubts in the order of the assignments.
    """
    result: list[AssignmentDoubt] = []
    queued = sorted(kinds)
    for number, (assignment, n_items) in enumerate(assignments):
        until = [earlier for earlier, _ in assignments[: number + 1]]
        excesses = [
            (_most_at_once(until, kind), people(kind, assignment.round))
            for kind in queued
            if assignment.kind in (None, kind)
        ]
        beyond, most = max(excesses, key=lambda pair: pair[0] - pair[1], default=(0, 0))
        if beyond > most:
            result.append(AssignmentDoubt("over", assignment, beyond, most))
        if any(_overlap(assignment, earlier) for earlier, _ in assignments[:number]):
            result.append(AssignmentDoubt("twice", assignment))
        elif not n_items:
            result.append(AssignmentDoubt("none", assignment))
    return result


def _most_at_once(assignments: Sequence[Assignment], kind: str) -> int:
    """The most people for whom one place of the last assignment is kept, in its round."""
    last = assignments[-1]
    spans = [
        (start, end, assignment)
        for assignment in assignments
        if assignment.round == last.round and assignment.kind in (None, kind)
        for start, end in _spans(assignment)
    ]

    def covering(place: float) -> list[Assignment]:
        return [each for start, end, each in spans if start <= place + _ROUNDING < end - _ROUNDING]

    # Where most spans lie on each other, one of them begins.
    overlaps = [covering(start) for start, _, _ in spans]
    return max(
        (len({each.annotator for each in those}) for those in overlaps if last in those), default=0
    )


def _overlap(assignment: Assignment, other: Assignment) -> bool:
    """Whether both are one person's in one round, and cover some of the same places of a kind."""
    if (assignment.annotator, assignment.round) != (other.annotator, other.round):
        return False
    if None not in (assignment.kind, other.kind) and assignment.kind != other.kind:
        return False
    return any(
        min(end, other_end) - max(start, other_start) > _ROUNDING
        for start, end in _spans(assignment)
        for other_start, other_end in _spans(other)
    )


def _spans(assignment: Assignment) -> list[tuple[float, float]]:
    """The places that an assignment covers; a share that goes on at 0 is two of them."""
    end = assignment.start + assignment.share
    spans = [(assignment.start, min(end, 1.0)), (0.0, end - 1)]
    if assignment.bucket is None:
        return spans
    first = assignment.bucket - 1
    return [((first + start) / BUCKETS, (first + end) / BUCKETS) for start, end in spans]


def progress_of(state_name: str, round: int, excluded: bool) -> Progress | None:
    """Say how far an assigned item is.

    An item for an expert waits until round 1 is over.

    Args:
        state_name: The status of the item.
        round: The round of the assignment.
        excluded: Whether the person may not make the item's next decision.

    Returns:
        `open`, `waiting` or `done`; None if people do not see the item.
    """
    if state_name == "not_sampled":
        return None
    current_round = {"round_1": 1, "to_rework": 1, "round_2": 2}.get(state_name)
    if current_round == round:
        return "done" if excluded else "open"
    return "waiting" if current_round == 1 else "done"


def priority(
    order: Sequence[Priority], state: ReviewState, context: Mapping[str, Any], place: float
) -> int:
    """Compute the number by which an item is ordered in the queue; smaller numbers come first.

    Args:
        order: What counts, the most important first. `quality`: the checks found something.
            `disagreement`: annotators disagree. `coverage`: items come by their places, so that kinds
            and buckets with the fewest decisions come first.
        state: The state of the item's review.
        context: The context of the item, with the findings of checks.
        place: The place of the item, 0 to 1.

    Returns:
        The number.
    """
    if state.status.name == "to_rework":
        return FIRST
    outcomes = {content_id(vote.verdict, vote.edits) for vote in state.annotator_decisions}
    notes = (context.get("checks") or {}).values()
    ranks = {
        "quality": not any(note["outcome"] != "pass" for note in notes),
        "disagreement": len(outcomes) < 2,
        "coverage": int(place * _STEPS),
    }
    number = 0
    for name in order:
        number = number * _STEPS + int(ranks[name])
    return number
