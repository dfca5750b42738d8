"""Figures of a review by hand: who did how much when, and when it will be done."""

from datetime import date

import pytest

from methods.review.overview import (
    SHOWN_DAYS,
    DecisionEffort,
    by_day,
    by_kind,
    by_person,
    day_of,
    expected_for_experts,
    forecast,
)

TODAY = date(2026, 3, 10)


def work(reviewer="ann", day=10, verdict="accept", *, kind="rewrite", round=1, seconds=None):
    return DecisionEffort(
        reviewer, kind, round, verdict, seconds, f"2026-03-{day:02}T12:00:00+00:00"
    )


def test_a_day_is_that_of_utc():
    assert day_of("2026-03-10T23:30:00-02:00") == "2026-03-11"
    assert day_of("2026-03-10T00:30:00+02:00") == "2026-03-09"
    assert day_of("2026-03-10T23:30:00") == "2026-03-10"


def test_people_have_counts_a_median_and_their_days():
    made = [
        work("bob", 10, seconds=30.0),
        work("ann", 9, "edit", seconds=10.0),
        work("ann", 10, "reject", seconds=20.0),
        work("ann", 10, seconds=90.0),
        work("ann", 10, "skip", seconds=500.0),
        work("ann", 1),
    ]
    ann, bob = by_person(made, TODAY)
    days = ann.pop("by_day")
    assert ann == {
        "reviewer": "ann",
        "n_decisions": 4,
        "n_skipped": 1,
        "n_edits": 1,
        "n_rejected": 1,
        "median_seconds": 20.0,  # of 10, 20 and 90: a skip is no item, and one has no time.
        "last_day": "2026-03-10",
    }
    assert len(days) == SHOWN_DAYS and list(days)[-1] == "2026-03-10"
    assert {day: n for day, n in days.items() if n} == {
        "2026-03-01": 1,
        "2026-03-09": 1,
        "2026-03-10": 2,
    }
    assert (bob["reviewer"], bob["median_seconds"]) == ("bob", 30.0)


def test_kinds_and_days_are_counted_apart():
    made = [
        work(kind="score", seconds=4.0),
        work(kind="score", seconds=6.0),
        work(kind="rewrite", verdict="skip"),
        work("bob", 9, kind="", round=2),
    ]
    assert by_kind(made) == [{"kind": "score", "n_decisions": 2, "median_seconds": 5.0}]
    assert [tuple(row.values()) for row in by_day(made)] == [
        ("2026-03-09", "bob", "", 2, 1, 0, None),
        ("2026-03-10", "ann", "rewrite", 1, 0, 1, None),
        ("2026-03-10", "ann", "score", 1, 2, 0, 5.0),
    ]


def test_the_slower_round_ends_last():
    # Of the last seven days 4 to 10: 14 decisions of round 1, 7 of round 2.
    made = [work(day=day) for day in range(4, 11) for _ in range(2)]
    made += [work(day=day, round=2) for day in range(4, 11)]
    made += [work(day=1)] * 100  # Too long ago.
    made += [work(day=10, verdict="skip")] * 100
    plan = forecast({1: 8, 2: 10}, made, TODAY)
    assert (plan.days, plan.rate) == (7, {1: 2.0, 2: 1.0})
    assert plan.end == date(2026, 3, 20)  # Ten days for the experts, four for the others.


def test_a_review_that_began_yesterday_has_the_rate_of_two_days():
    plan = forecast({1: 70, 2: 0}, [work(day=day) for day in (9, 10, 10)] * 5, TODAY)
    assert (plan.days, plan.rate[1]) == (2, 7.5)
    assert plan.end == date(2026, 3, 20)  # 70 / 7.5 is 9.3 days.


@pytest.mark.parametrize(
    ("needed", "made", "lacks"),
    [
        ({1: 1, 2: 0}, [], {1: "none"}),
        ({1: 1, 2: 0}, [work(day=1)] * 50, {1: "none"}),  # Too long ago.
        ({1: 1, 2: 0}, [work(verdict="skip")] * 50, {1: "none"}),
        ({1: 5, 2: 5}, [work()], {1: "decisions", 2: "none"}),
        ({1: 5, 2: 0}, [work(day=9), *[work()] * 3], {1: "decisions"}),
        ({1: 5, 2: 0}, [work()] * 500, {1: "days"}),  # The work of one morning.
        ({1: 0, 2: 9}, [work(), *[work(round=2)] * 10], {2: "days"}),
    ],
)
def test_no_end_is_said_of_little_work_and_what_lacks_is(needed, made, lacks):
    plan = forecast(needed, made, TODAY)
    assert (plan.end, plan.lacks) == (None, lacks)


def test_what_needs_nothing_lacks_nothing():
    assert forecast({1: 0, 2: 0}, [], TODAY).end == TODAY
    made = [work(day=9), *[work()] * 4]
    plan = forecast({1: 2, 2: 0}, made, TODAY)
    assert (plan.end, plan.lacks) == (date(2026, 3, 11), {})


@pytest.mark.parametrize(
    ("expert", "expected"),
    [("all", 40.0), ("none", 10.0), ("disagreement", 10.0), ("sample", 20.0)],
)
def test_experts_get_what_their_rule_says(expert, expected):
    assert expected_for_experts(40, expert, 0.5, n_past=20, n_to_expert=5) == expected
    # Nothing is expected of disagreement before there was any.
    assert expected_for_experts(40, "disagreement", 0.5, n_past=0, n_to_expert=0) == 0
