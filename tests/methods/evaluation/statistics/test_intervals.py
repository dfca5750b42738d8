"""Intervals with an unseen cluster: against exact ones, as laws, and how often they hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from methods.evaluation.statistics import intervals
from methods.evaluation.statistics.estimates import LEAST_CLUSTERS, UNSEEN, Estimate, marked
from methods.evaluation.statistics.intervals import (
    OF_THE_WAY,
    _intervals,
    difference_estimates,
    p_values,
    pseudo_values,
    score_estimates,
)
from methods.evaluation.statistics.resampling import ClusterTotals, cluster_totals
from tests.methods.evaluation.statistics.matrices import matrices

pytestmark = pytest.mark.slow

LOW, HIGH = 0.0, 100.0


def totals(*rows) -> ClusterTotals:
    """A unit a cluster."""
    sums = np.array(rows, dtype=float)
    return ClusterTotals(sums, np.ones_like(sums))


def scored(of: ClusterTotals, low=LOW, high=HIGH) -> list[Estimate]:
    n = len(of.sums)
    return score_estimates(of, np.full(n, low), np.full(n, high))


def compared(of: ClusterTotals, span=HIGH) -> tuple[list[Estimate], np.ndarray]:
    spans = np.full(len(of.sums), span)
    return difference_estimates(of, spans), p_values(of, spans)


# --- Oracles -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 5, 10, 30, 110])
def test_where_all_are_right_it_is_the_interval_of_clopper_and_pearson(n):
    (found,) = scored(totals([HIGH] * n))
    exact = stats.binomtest(n, n).proportion_ci(method="exact")
    assert (found.value, found.ci_high, found.n_clusters, found.method) == (HIGH, HIGH, n, UNSEEN)
    # The saddlepoint of one exponential against n is off by some thousandths.
    assert found.ci_low == pytest.approx(HIGH * exact.low, abs=0.4)


@pytest.mark.parametrize("n", [10, 30, 110])
def test_with_as_many_right_as_wrong_it_is_that_interval_too(n):
    (found,) = scored(totals([0.0, HIGH] * (n // 2)))
    exact = stats.binomtest(n // 2, n).proportion_ci(method="exact")
    assert (found.ci_low, found.ci_high) == pytest.approx(
        (HIGH * exact.low, HIGH * exact.high), abs=0.05
    )


def test_of_many_clusters_it_is_that_of_scipys_bca_bootstrap():
    generator = np.random.default_rng(3)
    clusters = np.sort(generator.integers(0, 400, 2000))
    values = np.clip(20 + 10 * generator.exponential(size=2000), 10, 100)
    of = cluster_totals(values[None], clusters)
    scipys = stats.bootstrap(
        (of.sums[0], of.sizes[0]),
        lambda sums, sizes, axis: sums.sum(axis=axis) / sizes.sum(axis=axis),
        paired=True,
        method="BCa",
        n_resamples=5_000,
        rng=np.random.default_rng(0),
    ).confidence_interval
    (found,) = scored(of, 10.0, 100.0)
    width = scipys.high - scipys.low
    # The upper end is further from the mean: of 400 clusters none is near that end of the scale.
    assert found.ci_low == pytest.approx(scipys.low, abs=0.15 * width)
    assert scipys.high < found.ci_high < scipys.high + 0.25 * width
    assert found.ci_high - found.ci_low >= 0.97 * width


def test_the_tail_is_that_of_drawn_weights():
    # Ten differences, and the unseen cluster at -sum |a|^3 / sum a^2: P(sum E a <= 0), E exponential.
    a = np.array([1.0, 2, 3, -1, 4, 2, 0.5, -2, 3, 1])
    unseen = (np.abs(a) ** 3).sum() / (a**2).sum()
    drawn = np.random.default_rng(0).exponential(size=(400_000, 11))
    share = float((drawn @ np.append(a, -unseen) <= 0).mean())
    _, p = compared(totals(a))
    # The standard error of the share is 0.0004 or less.
    assert p[0] == pytest.approx(2 * share, rel=0.02, abs=0.003)


def test_pseudo_values_have_the_statistic_as_mean_and_its_error_as_theirs():
    # A ratio of sums: the derivative by the weight of cluster c is (t_c - theta n_c) / N.
    sums, sizes = np.array([3.0, 8, 1, 6]), np.array([1.0, 3, 1, 2])
    theta = sums.sum() / sizes.sum()
    pseudo = pseudo_values(theta, (sums - theta * sizes) / sizes.sum())
    assert pseudo.mean() == pytest.approx(theta)
    # A step of one weight, by hand: (18 + 3 e) / (7 + e) changes by (3 - 18/7) / 7 = 3/49.
    assert pseudo[0] - theta == pytest.approx(4 * 3 / 49)


# --- Equal values and few clusters ---------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 6, 20])
def test_equal_differences_have_a_width_and_the_smallest_p_there_is(n):
    estimates, p = compared(totals([5.0] * n, [0.0] * n))
    for found in estimates:
        assert found.ci_low < found.value < found.ci_high
    assert p[0] == pytest.approx(2 / 2**n, rel=0.05) and p[1] == 1
    # With six clusters 2 / 2^6 = 0.031, with two 0.5.
    assert (estimates[0].ci_low > 0) == (n >= 6)


def test_one_cluster_has_no_interval_and_no_value_has_nothing():
    of = ClusterTotals(np.array([[4.0, 0], [0, 0]]), np.array([[2.0, 0], [0, 0]]))
    assert scored(of) == [Estimate(2.0, None, None, 1), Estimate(None, None, None, 0)]
    _, p = compared(of)
    assert p[0] == 1 and np.isnan(p[1])


def test_few_clusters_are_marked():
    assert marked("1.0 - 2.0", LEAST_CLUSTERS - 1) == "~1.0 - 2.0"
    assert marked("1.0 - 2.0", LEAST_CLUSTERS) == marked("1.0 - 2.0", None) == "1.0 - 2.0"
    assert marked("", 3) == ""


# --- Laws ----------------------------------------------------------------------------------------


@given(matrix=matrices(max_units=40, max_clusters=14))
def test_an_interval_holds_the_mean_lies_on_the_scale_and_has_a_width(matrix):
    values, clusters = matrix
    for found in scored(cluster_totals(values, clusters), 1.0, 10.0):
        if found.ci_low is not None:
            assert 1 - 1e-6 <= found.ci_low <= found.value <= found.ci_high <= 10 + 1e-6
            assert found.ci_high - found.ci_low > 1e-3


@given(matrix=matrices(max_units=40, max_clusters=14))
def test_a_higher_level_gives_a_wider_interval(matrix):
    values, clusters = matrix
    of = cluster_totals(values, clusters)
    ends = np.full(len(values), 1.0), np.full(len(values), 10.0)
    narrow, wide = (_intervals(of, *ends, OF_THE_WAY, level) for level in (0.8, 0.99))
    known = ~np.isnan(narrow[:, 0])
    assert (wide[known, 0] <= narrow[known, 0] + 1e-6).all()
    assert (wide[known, 1] >= narrow[known, 1] - 1e-6).all()


@given(matrix=matrices(max_units=40, max_clusters=14), scale=st.sampled_from([0.01, 7.0, -3.0]))
def test_scaling_and_turning_values_does_the_same_to_the_interval(matrix, scale):
    values, clusters = matrix
    ends = sorted((scale * 1.0 + 2, scale * 10.0 + 2))
    for one, other in zip(
        scored(cluster_totals(values, clusters), 1.0, 10.0),
        scored(cluster_totals(values * scale + 2, clusters), *ends),
        strict=True,
    ):
        if one.ci_low is not None:
            moved = sorted(scale * end + 2 for end in (one.ci_low, one.ci_high))
            found = [other.ci_low, other.ci_high]
            assert found == pytest.approx(moved, abs=1e-4 * abs(scale))


@given(matrix=matrices(max_models=2, max_units=60, max_clusters=20))
def test_p_is_below_0_05_exactly_where_the_interval_leaves_0_out(matrix):
    values, clusters = matrix
    of = cluster_totals(values[:1] - 4.0, clusters)
    (found,), p = compared(of, 9.0)
    if found.ci_low is not None and abs(p[0] - 0.05) > 1e-5:
        assert (p[0] < 0.05) == (not found.ci_low <= 0 <= found.ci_high)
        assert p[0] >= 2 / 2**found.n_clusters * 0.9


def test_where_one_cluster_has_most_of_the_values_p_is_as_wary_as_the_interval():
    of = ClusterTotals(np.array([[6.0] * 5 + [5]]), np.array([[1.0] * 5 + [23]]))
    (found,), p = compared(of, 9.0)
    assert found.ci_low < 0 < found.ci_high
    assert p[0] > 0.05


def test_no_interval_of_a_difference_is_beyond_the_largest_difference():
    # Weighted means of strata: clusters are further apart than two models can be.
    of = totals([27.0, 9, 3, 0, 12, 3])
    (found,), _ = compared(of, 9.0)
    assert found.value == 9.0
    assert -9.0 <= found.ci_low < found.ci_high == 9.0


@pytest.mark.parametrize("seed", range(3))
def test_clusters_that_are_put_together_count_as_each_by_itself(seed, monkeypatch):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 3, (5, 300)).astype(float)
    of = ClusterTotals(sizes * generator.integers(-1, 2, (5, 300)), sizes)
    together, p = compared(of, 2.0)
    monkeypatch.setattr(intervals, "WORTH_COUNTING", np.inf)
    apart, other_p = compared(of, 2.0)
    assert p == pytest.approx(other_p, rel=1e-6)
    for one, other in zip(together, apart, strict=True):
        assert (one.n_clusters, one.method) == (other.n_clusters, other.method)
        found = [one.value, one.ci_low, one.ci_high]
        assert found == pytest.approx([other.value, other.ci_low, other.ci_high], abs=1e-6)


# --- How often they hold -------------------------------------------------------------------------


def skewed(generator, shape):
    """Twelve of a hundred dialogues fail, the others differ a little."""
    failed = generator.random(shape) < 0.12
    return np.where(failed, 10.0, 80 + 3 * generator.standard_normal(shape))


SHAPES = {
    "normal": (lambda g, shape: np.clip(60 + 8 * g.standard_normal(shape), 10, 100), 60.0),
    "skewed": (skewed, 0.12 * 10 + 0.88 * 80),
    "ceiling": (lambda g, shape: 100 - 90 * (g.random(shape) < 0.1) * g.random(shape), 95.5),
    "right or wrong": (lambda g, shape: np.where(g.random(shape) < 0.12, 10.0, 100.0), 89.2),
}


@pytest.mark.parametrize("n_clusters", [10, 30])
@pytest.mark.parametrize("shape", SHAPES)
def test_they_hold_in_93_of_100_releases_from_ten_clusters_on(shape, n_clusters):
    draw, truth = SHAPES[shape]
    values = draw(np.random.default_rng(n_clusters), (1500, n_clusters))
    found = scored(ClusterTotals(values, np.ones_like(values)), 10.0, 100.0)
    held = np.mean([each.ci_low <= truth <= each.ci_high for each in found])
    # The standard error of a share of 0.93 is 0.007.
    assert held >= 0.93 - 0.007


@pytest.mark.parametrize("n_clusters", [10, 30])
def test_equal_models_differ_seldom_enough_though_differences_are_skewed(n_clusters):
    generator = np.random.default_rng(5)
    differences = generator.exponential(10, (12_000, n_clusters)) - 10
    _, p = compared(ClusterTotals(differences, np.ones_like(differences)), 90.0)
    # The standard error of a share of 0.05 is 0.002.
    assert np.mean(p <= 0.05) <= 0.05 + 2 * 0.002
