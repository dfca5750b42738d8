"""Ratings with intervals and ranks."""

import math

import pytest
from scipy import stats

from methods.pairwise.battles import Battle, battles_of
from methods.pairwise.ratings import first_place, rate


def rated(battles, models=(), *, n_resamples=200, seed=0):
    return rate(battles_of(battles, models), seed=seed, n_resamples=n_resamples)


def won(first, second, times, cluster="i", outcome=1.0):
    """Battles on items of their own, each in both orders."""
    return [
        battle
        for number in range(times)
        for battle in (
            Battle(first, second, outcome, f"{cluster}{number}"),
            Battle(second, first, 1 - outcome, f"{cluster}{number}"),
        )
    ]


def test_ratings_shares_and_counts_by_hand():
    # Of 8 battles on 4 items x wins 6: odds of 3, 400 log10(3) = 190.85 points, 95.42 each way.
    battles = won("x", "y", 3) + won("y", "x", 1, "j")
    x, y = rated(battles).ratings
    assert x.rating.value == pytest.approx(1000 + 200 * math.log10(3))
    assert y.rating.value == pytest.approx(1000 - 200 * math.log10(3))
    assert (x.n, x.n_clusters, x.win_share, x.tie_share) == (8, 4, 0.75, 0)
    assert not x.smoothed


def test_a_resample_draws_items_not_battles():
    # The same shares on 40 items and on 4 items: what few items say is less sure.
    many = rated(won("x", "y", 30) + won("y", "x", 10, "j")).ratings[0].rating
    uneven = [
        Battle("x", "y", 1.0 if item < 3 else 0.0, str(item))
        for item in range(4)
        for _ in range(20)
    ]
    width = many.ci_high - many.ci_low
    clustered = rated(uneven).ratings[0].rating
    assert clustered.value == pytest.approx(many.value)
    assert clustered.ci_high - clustered.ci_low > 2 * width


def test_few_or_no_or_one_sided_battles():
    # 4 items of one kind: p is 2 / 2^4, however many battles each has.
    (found,) = rated(won("x", "y", 4) * 10).comparisons
    assert found.p_value == pytest.approx(2 / 2**4)
    # So it is if one of the two has many items with others.
    pairs = rated(won("x", "y", 4) + won("x", "z", 30, "j", 0.5)).comparisons
    (found,) = [each for each in pairs if (each.first, each.second) == (0, 1)]
    assert found.p_value >= 2 / 2**4
    # A model that won all is finite and marked.
    ratings = rated(won("x", "y", 10) + won("y", "z", 10, "j") + won("z", "y", 5, "k")).ratings
    assert all(each.smoothed for each in ratings)
    assert ratings[0].rating.value < 2000
    # Equal models tie.
    x, y = rated(won("x", "y", 10, outcome=0.5)).ratings
    assert x.rating.value == pytest.approx(1000)
    assert (x.rank.rank, y.rank.rank, x.tie_share) == (1, 1, 1)
    assert (x.rank.low, x.rank.high) == (1, 2)
    # No battle gives no rating.
    assert [each.rating.value for each in rated([], ["x", "y"]).ratings] == [None, None]
    assert rated([]).ratings == []


def test_models_that_no_battles_connect_are_ranked_apart():
    found = rated(won("a", "b", 12) + won("y", "z", 12, "j"), ["lone"])
    ranks = {each.model: each.rank.rank for each in found.ratings}
    assert ranks == {"a": 1, "b": 2, "lone": None, "y": 1, "z": 2}
    assert {(each.first, each.second) for each in found.comparisons} == {(0, 1), (3, 4)}
    lone = found.ratings[2]
    assert (lone.rating.value, lone.n, lone.win_share) == (None, 0, None)


def test_who_always_says_the_first_has_its_share_at_1_and_everyone_the_same_rating():
    pairs = [("x", "y"), ("y", "z"), ("x", "z")]
    battles = battles_of(
        Battle(*order, 1.0, str(item))
        for item in range(6)
        for pair in pairs
        for order in (pair, pair[::-1])
    )
    found = first_place(battles)
    # Six clusters of six battles, and the two pseudo-clusters.
    assert (found.value, found.ci_high, found.n_clusters) == (1, 1, 6)
    interval = stats.ttest_1samp([1.0] * 6 + [0, 1], 0).confidence_interval()
    assert found.ci_low == pytest.approx(interval.low)
    ratings = rate(battles, seed=0, n_resamples=200).ratings
    assert [each.rating.value for each in ratings] == pytest.approx([1000] * 3)
    assert [each.rank.rank for each in ratings] == [1, 1, 1]
