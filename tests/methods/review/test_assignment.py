"""Which items an assignment covers, what becomes of them, and what comes first."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from methods.review.assignment import (
    BUCKETS,
    FIRST,
    Assignment,
    doubts,
    next_start,
    place_of,
    priority,
    progress_of,
)
from methods.review.process import RuleBook, Rules, review_state
from tests.resources.review.review_queue import item, verdict

PLACES = st.floats(0, 1, exclude_max=True)


def assignment(start=0.0, share=1.0, *, kind=None, bucket=None, number=1, round=1):
    return Assignment(number, "ann", round, kind, bucket, start, share)


@example(place=0.0, shares=[0.1] * 4 + [0.25] * 2 + [0.1] * 2)
@given(place=PLACES, shares=st.lists(st.sampled_from([0.1, 0.25, 0.5, 1.0]), max_size=8))
def test_shares_follow_each_other_and_cover_each_item_equally_often(place, shares):
    made = []
    for share in shares:
        made.append(assignment(next_start(made, 1, None, None), share))
    times = sum(each.covers("rewrite", place) for each in made)
    whole = int(sum(shares) + 1e-9)
    assert times in (whole, whole + 1)


@given(place=PLACES)
def test_every_place_is_in_one_bucket(place):
    buckets = [n for n in range(1, BUCKETS + 1) if assignment(bucket=n).covers("score", place)]
    assert len(buckets) == 1
    halves = [assignment(start, 0.5, bucket=buckets[0]) for start in (0.0, 0.5)]
    assert sum(half.covers("score", place) for half in halves) == 1


def test_a_share_is_of_the_same_items_and_goes_on_at_the_start():
    made = [assignment(0.0, 0.5), assignment(0.0, 0.3, kind="score"), assignment(0.0, 0.4, round=2)]
    made.append(assignment(0.0, 0.2, bucket=3))
    assert next_start(made, 1, None, None) == 0.5
    assert next_start(made, 1, "score", None) == pytest.approx(0.3)
    assert next_start(made, 1, None, 3) == pytest.approx(0.2)
    assert next_start([*made, assignment(0.5, 0.75)], 1, None, None) == pytest.approx(0.25)
    late = assignment(0.8, 0.4)
    assert [late.covers("score", place) for place in (0.1, 0.3, 0.9)] == [True, False, True]
    assert not assignment(kind="score").covers("rewrite", 0.5)


def doubted(*made, annotators=1, n_items=5):
    rules = RuleBook.model_validate({"default": {"annotators": annotators}})
    return [
        (doubt.assignment.assignment_id, doubt.why)
        for doubt in doubts([(each, n_items) for each in made], rules.people, ("rewrite", "score"))
    ]


def of(name, each):
    return replace(each, annotator=name)


def test_items_are_counted_over_assignments_of_any_scope():
    # 80 % and 70 % of one kind lie on each other in half of it: with all kinds to a third person three
    # have these items.
    made = [
        of("ben", assignment(0.0, 0.8, kind="rewrite", number=1)),
        of("cal", assignment(0.8, 0.7, kind="rewrite", number=2)),
        of("ann", assignment(number=3)),
    ]
    assert doubted(*made, annotators=2) == [(3, "over")]
    assert doubted(*made[:2], annotators=2) == []
    assert doubted(*made[1:], annotators=1) == [(3, "over")]
    # Whom nothing is kept for twice: other buckets, and kinds that nobody has queued.
    apart = [of("ben", assignment(bucket=3, number=1)), of("cal", assignment(bucket=4, number=2))]
    assert doubted(*apart) == []
    assert doubted(*apart, of("ann", assignment(2 / 16, 1 / 16, number=3))) == [(3, "over")]
    one = [of("ben", assignment(kind="category", number=1)), of("cal", assignment(number=2))]
    assert doubted(*one) == []
    one[0] = of("ben", assignment(kind="score", number=1))
    assert doubted(*one) == [(2, "over")]
    # An assignment without items is doubtful unless it has an earlier one's.
    assert doubted(assignment(), n_items=0) == [(1, "none")]
    again = assignment(number=2, kind="score")
    assert doubted(assignment(), again, n_items=0) == [(1, "none"), (2, "twice")]


@pytest.mark.parametrize(
    ("first", "second", "twice"),
    [
        (assignment(), assignment(kind="score"), True),
        (assignment(kind="rewrite"), assignment(kind="score"), False),
        (assignment(0.0, 0.5), assignment(0.5, 0.5), False),
        (assignment(bucket=3), assignment(bucket=4), False),
        (assignment(0.0, 0.125), assignment(bucket=2), True),
        (assignment(), assignment(round=2), False),
    ],
)
def test_the_same_items_twice_for_one_person_are_doubtful(first, second, twice):
    made = [replace(each, assignment_id=n) for n, each in enumerate((first, second))]
    assert ((1, "twice") in doubted(*made, annotators=2)) is twice
    assert doubted(made[0], of("bob", made[1]), annotators=2) == []


def test_items_of_one_set_go_together_and_sets_spread_evenly():
    assert place_of("a", "set") == place_of("b", "set") != place_of("a", None)
    assert place_of("a", None) != place_of("b", None)
    found = Counter(int(place_of("", f"set {number}") * BUCKETS) for number in range(3200))
    assert set(found) == set(range(BUCKETS)) and max(found.values()) < 1.4 * min(found.values())


@pytest.mark.parametrize(
    ("status", "round", "excluded", "progress"),
    [
        ("round_2", 1, False, "done"),
        ("approved", 1, False, "done"),
        ("round_1", 2, False, "waiting"),
        ("round_2", 2, False, "open"),
        ("round_1", 1, True, "done"),
        ("not_sampled", 1, False, None),
    ],
)
def test_progress_follows_from_the_status(status, round, excluded, progress):
    assert progress_of(status, round, excluded) == progress


class TestPriority:
    ORDER = ("quality", "disagreement", "coverage")
    FLAGGED = {"checks": {"q": {"outcome": "review"}}}
    CLEAN = {"checks": {"q": {"outcome": "pass"}}}

    @staticmethod
    def state(*verdicts, rounds=(1, 1, 2)):
        one = item(1)
        events = [
            verdict(one, name, says, round=round)
            for name, says, round in zip("abc", verdicts, rounds, strict=False)
        ]
        return review_state(one, events, Rules(annotators=2))

    def test_the_first_that_is_named_counts_most(self):
        fresh, split = self.state(), self.state("accept", "reject")
        numbers = [
            priority(self.ORDER, split, self.FLAGGED, 0.9),
            priority(self.ORDER, fresh, self.FLAGGED, 0.1),
            priority(self.ORDER, fresh, self.FLAGGED, 0.2),
            priority(self.ORDER, split, self.CLEAN, 0.0),
            priority(self.ORDER, fresh, {}, 0.0),
        ]
        assert numbers == sorted(set(numbers))

    def test_what_an_expert_gave_back_is_first(self):
        back = self.state("accept", "accept", "reject")
        assert back.status.name == "to_rework"
        assert priority(self.ORDER, back, {}, 0.9) == FIRST
        assert priority(("quality",), back, {}, 0) > FIRST - 1
