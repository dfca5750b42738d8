"""Assignment of review items to annotators, and the order of the review queue."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from methods.ids import seeded_fraction
from methods.review.process import ReviewState

BUCKETS = 16
"""The number of buckets into which image sets are divided by a hash. The items of a set are in one
bucket, so that they go to the same person."""
PLACES = 10**9
"""The resolution of the places of items, and of the beginnings and ends of shares."""

Priority = Literal["quality", "disagreement", "coverage"]
_STEPS = 1000
"""The number of levels of the priority `coverage`."""
_ROUNDING = 1e-9
"""Places that differ by less are equal, because sums of shares have rounding errors."""
FIRST = -1
"""The priority of items that an expert returned to annotators: they come first."""

Progress = Literal["open", "done", "waiting"]


@dataclass(frozen=True)
class Assignment:
    """A share of the items of a kind and bucket, which a reviewer decides in a round.

    Each item has a place from 0 to 1, the hash of its image set. The assignment covers the places from
    `start` to `start + share`, modulo 1.

    Attributes:
        kind: The kind of items; None for all kinds.
        bucket: The bucket, 1 to BUCKETS; None for all buckets.
        start: The first place within the bucket, 0 to 1.
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
        """Check whether the assignment includes an item.

        Args:
            kind: The kind of the item.
            place: The place of the item, 0 to 1.

        Returns:
            Whether the item is assigned.
        """
        if self.kind not in (None, kind):
            return False
        bucket, within = divmod(place * BUCKETS, 1)
        if self.bucket is not None:
            if bucket + 1 != self.bucket:
                return False
            place = within
        # Whole numbers, so that adjacent shares have no item in common.
        behind = int(place * PLACES) - round(self.start * PLACES)
        return behind % PLACES < round(self.share * PLACES)


def place_of(item_id: str, set_id: str | None) -> float:
    """Compute the place of an item, by which items are assigned.

    Args:
        item_id: The item.
        set_id: Its image set, whose items all have the same place; None if it has none.

    Returns:
        A number from 0 to 1.
    """
    return seeded_fraction("assignment", set_id or item_id)


def next_start(
    assignments: Iterable[Assignment], round: int, kind: str | None, bucket: int | None
) -> float:
    """Compute where the next share of the same items begins: at the end of the shares so far.

    So shares only overlap if their sum exceeds 1.

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
        why: `over`: some of the items are assigned to more reviewers than decide an item. `twice`: an
            earlier assignment gives the reviewer some of the items. `none`: there are no items.
        people: For `over`, the number of reviewers to whom such items are assigned.
        most: For `over`, the number of reviewers who decide an item.
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
    """Find possible mistakes in assignments.

    Args:
        assignments: The assignments, each with the number of its items.
        people: Returns the number of people who decide an item of a kind in a round.
        kinds: The kinds of items in the queue.

    Returns:
        The possible mistakes, in the order of the assignments.
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
    """The largest number of people to whom any place of the last assignment is assigned."""
    last = assignments[-1]
    spans = [
        (start, end, assignment)
        for assignment in assignments
        if assignment.round == last.round and assignment.kind in (None, kind)
        for start, end in _spans(assignment)
    ]

    def covering(place: float) -> list[Assignment]:
        return [each for start, end, each in spans if start <= place + _ROUNDING < end - _ROUNDING]

    # The number of overlapping spans is largest at the beginning of one of them.
    overlaps = [covering(start) for start, _, _ in spans]
    return max(
        (len({each.annotator for each in those}) for those in overlaps if last in those), default=0
    )


def _overlap(assignment: Assignment, other: Assignment) -> bool:
    """Whether two assignments of one person in one round have common places of a kind."""
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
    """The intervals of places that an assignment covers: two if the share wraps around at 1."""
    end = assignment.start + assignment.share
    spans = [(assignment.start, min(end, 1.0)), (0.0, end - 1)]
    if assignment.bucket is None:
        return spans
    first = assignment.bucket - 1
    return [((first + start) / BUCKETS, (first + end) / BUCKETS) for start, end in spans]


def progress_of(state_name: str, round: int, excluded: bool) -> Progress | None:
    """Return the progress of an assigned item.

    An item of round 2, for an expert, is waiting until round 1 is over.

    Args:
        state_name: The status of the item.
        round: The round of the assignment.
        excluded: Whether the person must not make the item's next decision.

    Returns:
        `open`, `waiting` or `done`; None if the item was not sampled for review.
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
    """Compute the number by which items are sorted in the queue. Smaller numbers come first.

    Args:
        order: The criteria, the most important first. `quality`: items with findings of the quality
            checks come first. `disagreement`: items on which annotators disagree come first.
            `coverage`: items come in the order of their places.
        state: The state of the item's review.
        context: The context of the item, with the findings of checks.
        place: The place of the item, 0 to 1.
    """
    if state.status.name == "to_rework":
        return FIRST
    notes = (context.get("checks") or {}).values()
    ranks = {
        "quality": not any(note["outcome"] != "pass" for note in notes),
        "disagreement": not state.is_disputed,
        "coverage": int(place * _STEPS),
    }
    number = 0
    for name in order:
        number = number * _STEPS + int(ranks[name])
    return number
