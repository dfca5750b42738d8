"""Figures of a review by hand: who did how much when, and what gold items tell of it."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.review import overview
from methods.review.gold import (
    DecisionComparison,
    compare_with_others,
    expected_of,
    is_due,
    is_hit,
    passes_calibration,
    weeks,
)
from methods.review.process import Calibration, Rules, review_state
from tests.resources.review.review_queue import item, verdict
from tests.review.items_of_every_kind import item_of

TODAY = date(2026, 3, 10)


def work(reviewer="ann", day=10, verdict="accept", *, kind="rewrite", round=1, seconds=None):
    decided_at = f"2026-03-{day:02}T12:00:00+00:00"
    return overview.DecisionEffort(reviewer, kind, round, verdict, seconds, decided_at)


def test_a_day_is_that_of_utc():
    assert overview.day_of("2026-03-10T23:30:00-02:00") == "2026-03-11"
    assert overview.day_of("2026-03-10T00:30:00+02:00") == "2026-03-09"
    assert overview.day_of("2026-03-10T23:30:00") == "2026-03-10"


def test_people_have_counts_a_median_and_their_days():
    made = [
        work("bob", 10, seconds=30.0),
        work("ann", 9, "edit", seconds=10.0),
        work("ann", 10, "reject", seconds=20.0),
        work("ann", 10, seconds=90.0),
        work("ann", 10, "skip", seconds=500.0),
        work("ann", 1),
    ]
    ann, bob = overview.by_person(made, TODAY)
    days = ann.pop("by_day")
    assert ann == {
        **{"reviewer": "ann", "n_decisions": 4, "n_skipped": 1, "n_edits": 1, "n_rejected": 1},
        # Of 10, 20 and 90: a skip is no item, and one has no time.
        **{"median_seconds": 20.0, "last_day": "2026-03-10"},
    }
    assert len(days) == overview.SHOWN_DAYS and list(days)[-1] == "2026-03-10"
    busy = {day[-2:]: n for day, n in days.items() if n}
    assert busy == {"01": 1, "09": 1, "10": 2}
    assert (bob["reviewer"], bob["median_seconds"]) == ("bob", 30.0)


def test_kinds_and_days_are_counted_apart():
    made = [
        work(kind="score", seconds=4.0),
        work(kind="score", seconds=6.0),
        work(kind="rewrite", verdict="skip"),
        work("bob", 9, kind="", round=2),
    ]
    assert overview.by_kind(made) == [{"kind": "score", "n_decisions": 2, "median_seconds": 5.0}]
    assert [tuple(row.values()) for row in overview.by_day(made)] == [
        ("2026-03-09", "bob", "", 2, 1, 0, None),
        ("2026-03-10", "ann", "rewrite", 1, 0, 1, None),
        ("2026-03-10", "ann", "score", 1, 2, 0, 5.0),
    ]


def test_a_review_that_began_yesterday_has_the_rate_of_two_days():
    plan = overview.forecast({1: 70, 2: 0}, [work(day=day) for day in (9, 10, 10)] * 5, TODAY)
    assert (plan.days, plan.rate[1]) == (2, 7.5)
    assert plan.end == date(2026, 3, 20)  # 70 / 7.5 is 9.3 days.
    # What needs nothing lacks nothing.
    assert overview.forecast({1: 0, 2: 0}, [], TODAY).end == TODAY
    plan = overview.forecast({1: 2, 2: 0}, [work(day=9), *[work()] * 4], TODAY)
    assert (plan.end, plan.lacks) == (date(2026, 3, 11), {})


@pytest.mark.parametrize(
    ("needed", "made", "lacks"),
    [
        ({1: 1, 2: 0}, [], {1: "none"}),
        ({1: 1, 2: 0}, [work(day=1)] * 50, {1: "none"}),  # Too long ago.
        ({1: 5, 2: 0}, [work(day=9), *[work()] * 3], {1: "decisions"}),
        ({1: 5, 2: 0}, [work()] * 500, {1: "days"}),  # The work of one morning.
        ({1: 0, 2: 9}, [work(), *[work(round=2)] * 10], {2: "days"}),
    ],
)
def test_no_end_is_said_of_little_work_and_what_lacks_is(needed, made, lacks):
    plan = overview.forecast(needed, made, TODAY)
    assert (plan.end, plan.lacks) == (None, lacks)


@pytest.mark.parametrize(
    ("expert", "expected"),
    [("all", 40.0), ("none", 10.0), ("disagreement", 10.0), ("sample", 20.0)],
)
def test_experts_get_what_their_rule_says(expert, expected):
    assert overview.expected_for_experts(40, expert, 0.5, n_past=20, n_to_expert=5) == expected
    # Nothing is expected of disagreement before there was any.
    assert overview.expected_for_experts(40, "disagreement", 0.5, n_past=0, n_to_expert=0) == 0


def decided(one, name, said="accept", round=1, **more):
    return verdict(one, name, said, round=round, **more)


def state_after(one, *decisions):
    return review_state(one, decisions, Rules())


def test_expected_is_what_an_expert_made_of_what_was_queued():
    one = item(1)
    better = one["content"] | {"rewrite": "Better."}
    accepted = decided(one, "ann")
    rejected = decided(one, "ann", "reject")
    assert expected_of(one, state_after(one, accepted)) is None
    assert expected_of(one, state_after(one, rejected)) is None
    by_both = state_after(one, rejected, decided(one, "eve", "reject", 2))
    assert expected_of(one, by_both) == {"verdict": "reject", "content": None}
    by_both = state_after(one, accepted, decided(one, "eve", round=2))
    assert expected_of(one, by_both) == {"verdict": "accept", "content": one["content"]}
    edited = decided(one, "eve", "edit", 2, edits=better)
    edit = {"verdict": "edit", "content": better}
    assert expected_of(one, state_after(one, accepted, edited)) == edit
    # The expert accepted what an annotator had edited: of what was queued that is an edit.
    by_annotator = decided(one, "ann", "edit", edits=better)
    on_edited = review_state(one, [by_annotator], Rules()).item
    after = state_after(one, by_annotator, decided(on_edited, "eve", round=2))
    assert expected_of(one, after) == edit


def test_of_a_text_the_verdict_counts_a_label_is_the_same_and_a_score_is_near():
    one = item(1)
    edited = decided(one, "ann", "edit", edits=one["content"] | {"rewrite": "In one's own words."})
    edit = {"verdict": "edit", "content": one["content"] | {"rewrite": "The expert's."}}
    assert is_hit(one, edited, edit) and not is_hit(one, edited, edit | {"verdict": "accept"})
    rejection = {"verdict": "reject", "content": None}
    assert is_hit(one, decided(one, "ann", "reject"), rejection)
    assert not is_hit(one, edited, rejection)
    category, score = item_of("category"), item_of("score")
    to = {"verdict": "edit", "content": category["content"] | {"category": "new"}}
    new = decided(category, "ann", "edit", edits=category["content"] | {"category": "new"})
    assert is_hit(category, new, to) and not is_hit(category, decided(category, "ann"), to)
    scores = {"Creativity": 7, "Richness": 4}
    right = {"verdict": "edit", "content": score["content"] | {"scores": scores}}
    for given_scores, hit in ((8, 3), True), ((9, 4), False), ((7, None), False), ((7, 2), False):
        scores = dict(zip(("Creativity", "Richness"), given_scores, strict=True))
        said = decided(score, "ann", "edit", edits=score["content"] | {"scores": scores})
        assert is_hit(score, said, right) is hit
    # If the expert left out a score, it is not compared.
    right["content"] |= {"scores": {"Creativity": 7, "Richness": None}}
    assert is_hit(score, said, right)


@given(name=st.text(max_size=5), share=st.sampled_from([0.05, 0.1, 0.25, 0.5]))
def test_the_share_is_kept_and_gold_stands_in_each_stretch_once(name, share):
    n_gold = 0
    for n in range(400):
        n_gold += is_due("key", name, n, n_gold, share)
        # One in each stretch of 1 / share items, neither early nor late by more than that stretch.
        assert abs(n_gold - share * (n + 1)) <= 1 + 1e-9
    assert is_due("key", name, 0, 0, 0.0) is False


def test_the_position_of_gold_depends_on_the_key():
    positions = {tuple(is_due(key, "ann", n, 0, 0.05) for n in range(20)) for key in "abcdefgh"}
    assert len(positions) > 1


def test_the_last_answers_count_for_passing():
    rule = Calibration(items=4, hits=0.75)
    assert not passes_calibration([True] * 3, rule)
    assert passes_calibration([True, True, True, False], rule)
    assert not passes_calibration([True, True, False, False], rule)
    assert passes_calibration([False] * 10 + [True, True, False, True], rule)


def test_weeks_count_comparisons_of_each_person():
    monday, sunday = "2026-03-09T08:00:00+00:00", "2026-03-15T23:00:00+00:00"
    rows = weeks(
        [
            DecisionComparison("ann", monday, True, True),
            DecisionComparison("ann", sunday, True, False),
            DecisionComparison("ann", sunday, False, True),
            DecisionComparison("ann", "2026-03-16T00:00:00+00:00", False, False),
            DecisionComparison("bob", monday, False, True),
        ]
    )
    assert [tuple(row.values()) for row in rows] == [
        ("ann", "2026-03-09", 2, 1, 1, 1),
        ("ann", "2026-03-16", 0, 0, 1, 0),
        ("bob", "2026-03-09", 0, 0, 1, 1),
    ]


def test_blind_decisions_are_compared_with_each_other():
    one, two = item(1), item(2)
    made = [
        (one, replace(decided(one, "ann"), event_id=1)),
        (one, replace(decided(one, "bob", "reject"), event_id=2)),
        (two, replace(decided(two, "ann"), event_id=3)),
    ]
    found = [(each.reviewer, each.same) for each in compare_with_others(made)]
    assert found == [("ann", False), ("bob", False)]
    assert compare_with_others([(item_of("score"), decided(item_of("score"), "ann"))] * 2) == []
    # Of one verdict with two labels, the labels count.
    category = item_of("category")
    labels = [
        (category, decided(category, name, "edit", edits=category["content"] | {"category": name}))
        for name in ("ann", "bob")
    ]
    assert [each.same for each in compare_with_others(labels)] == [False, False]
