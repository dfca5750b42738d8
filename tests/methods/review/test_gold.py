"""What a hit is, when gold is due, who has passed, and the weeks, by hand and as laws."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def decided(one, name, said="accept", round=1, **more):
    return verdict(one, name, said, round=round, **more)


def state_after(one, *decisions):
    return review_state(one, decisions, Rules())


def test_expected_is_what_an_expert_made_of_what_was_queued():
    one = item(1)
    better = one["content"] | {"rewrite": "Better."}
    accepted = decided(one, "ann")
    assert expected_of(one, state_after(one, accepted)) is None
    assert expected_of(one, state_after(one, accepted, decided(one, "eve", round=2))) == {
        "verdict": "accept",
        "content": one["content"],
    }
    edited = decided(one, "eve", "edit", 2, edits=better)
    assert expected_of(one, state_after(one, accepted, edited)) == {
        "verdict": "edit",
        "content": better,
    }
    # The expert accepted what an annotator had edited: of what was queued that is an edit.
    by_annotator = decided(one, "ann", "edit", edits=better)
    on_edited = review_state(one, [by_annotator], Rules()).item
    after = state_after(one, by_annotator, decided(on_edited, "eve", round=2))
    assert expected_of(one, after) == {"verdict": "edit", "content": better}
    rejected = [decided(one, "ann", "reject"), decided(one, "eve", "reject", 2)]
    found = expected_of(one, review_state(one, rejected, Rules(annotators=1)))
    assert found is None or found["verdict"] == "reject"


@pytest.mark.parametrize(
    ("right", "said", "hit"),
    [
        ("accept", "accept", True),
        ("accept", "edit", False),
        ("edit", "edit", True),
        ("edit", "accept", False),
        ("edit", "reject", False),
        ("reject", "reject", True),
        ("reject", "accept", False),
    ],
)
def test_of_a_text_the_verdict_counts(right, said, hit):
    one = item(1)
    edits = one["content"] | {"rewrite": "In words of one's own."} if said == "edit" else None
    content = None if right == "reject" else one["content"] | {"rewrite": "The expert's."}
    expected = {"verdict": right, "content": content}
    assert is_hit(one, decided(one, "ann", said, edits=edits), expected) is hit


def test_a_label_is_the_same_and_a_score_is_near():
    category, score = item_of("category"), item_of("score")
    to = {"verdict": "edit", "content": category["content"] | {"category": "new"}}
    new = decided(category, "ann", "edit", edits=category["content"] | {"category": "new"})
    assert is_hit(category, new, to) and not is_hit(category, decided(category, "ann"), to)
    right = {
        "verdict": "edit",
        "content": score["content"] | {"scores": {"Creativity": 7, "Richness": 4}},
    }
    for given_scores, hit in ((8, 3), True), ((9, 4), False), ((7, 6), False):
        scores = dict(zip(("Creativity", "Richness"), given_scores, strict=True))
        said = decided(score, "ann", "edit", edits=score["content"] | {"scores": scores})
        assert is_hit(score, said, right) is hit


@given(name=st.text(max_size=5), share=st.sampled_from([0.05, 0.1, 0.25, 0.5]))
def test_the_share_is_kept_and_gold_stands_in_each_stretch_once(name, share):
    gold = []
    for n in range(400):
        gold.append(is_due(name, n, sum(gold), share))
        # One in each stretch of 1 / share items, neither early nor late by more than that stretch.
        assert abs(sum(gold) - share * (n + 1)) <= 1 + 1e-9
    assert is_due(name, 0, 0, 0.0) is False


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
