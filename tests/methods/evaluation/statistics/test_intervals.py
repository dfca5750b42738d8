"""Intervals and tests over clusters: against exact ones, by hand, and as laws."""

import numpy as np
import pytest
from hypothesis import given
from scipy import linalg, stats

from methods.evaluation.statistics.bootstrap import ClusterTotals, cluster_totals
from methods.evaluation.statistics.estimates import (
    BINOMIAL,
    LEAST_CLUSTERS,
    PAIRED_T,
    PSEUDO_CLUSTERS,
    Estimate,
    mark_indicative,
)
from methods.evaluation.statistics.intervals import (
    difference_estimates,
    mean_fit,
    p_values,
    score_estimates,
)
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


@pytest.mark.parametrize(("n_high", "n"), [(2, 2), (0, 5), (7, 10), (10, 10), (29, 30), (55, 110)])
def test_of_right_and_wrong_answers_it_is_the_interval_of_clopper_and_pearson(n_high, n):
    (found,) = scored(totals([HIGH] * n_high + [LOW] * (n - n_high)))
    exact = stats.binomtest(n_high, n).proportion_ci(method="exact")
    assert (found.ci_low, found.ci_high) == pytest.approx((HIGH * exact.low, HIGH * exact.high))
    assert (found.n_clusters, found.method) == (n, BINOMIAL)
    (rated,) = scored(totals([10.0] * n_high + [1.0] * (n - n_high)), 1.0, 10.0)
    assert (rated.ci_low, rated.ci_high) == pytest.approx((1 + 9 * exact.low, 1 + 9 * exact.high))


def test_of_other_scores_it_is_students_with_a_pseudo_cluster_at_each_end():
    values = [20.0, 50, 60, 75, 100]
    (found,) = scored(totals(values))
    students = stats.ttest_1samp([*values, LOW, HIGH], 0).confidence_interval()
    assert (found.ci_low, found.ci_high) == pytest.approx(students)
    assert (found.value, found.n_clusters, found.method) == (61, 5, PSEUDO_CLUSTERS)


def test_a_symmetric_difference_has_the_paired_t_test():
    other = np.array([58.0, 69, 74, 45, 36])
    one = other + [1, 2, 3, 4, 5]
    students = stats.ttest_rel(one, other)
    (found,), p = compared(totals(one - other))
    assert p[0] == pytest.approx(students.pvalue)
    assert (found.ci_low, found.ci_high) == pytest.approx(students.confidence_interval())
    assert found.method == PAIRED_T


def test_the_error_and_its_degrees_of_freedom_are_those_of_cr2_as_it_is_defined():
    # Units of one regression on a constant, clusters of unequal size. Bell and McCaffrey: residuals of
    # cluster c are multiplied by (I - H_cc)^(-1/2), H the hat matrix. Satterthwaite: the variance is a
    # quadratic form in independent units, u' G G' u; df = (tr G'G)^2 / sum (G'G)_cd^2.
    generator = np.random.default_rng(0)
    sizes = [1, 7, 2, 12, 3, 3]
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    values = generator.normal(size=len(clusters))
    n = len(values)
    hat = np.full((n, n), 1 / n)
    columns = []
    for cluster in range(len(sizes)):
        members = clusters == cluster
        inner = np.eye(members.sum()) - hat[np.ix_(members, members)]
        correction = linalg.fractional_matrix_power(inner, -0.5)
        columns.append((np.eye(n) - hat)[:, members] @ correction @ np.ones(members.sum()) / n)
    gradient = np.array(columns).T
    inner = gradient.T @ gradient
    fit = mean_fit(cluster_totals(values[None], clusters))
    assert fit.errors == pytest.approx([np.sqrt(((values @ gradient) ** 2).sum())])
    assert fit.freedom == pytest.approx([np.trace(inner) ** 2 / (inner**2).sum()])


def test_the_quantile_is_expanded_on_the_side_that_differences_are_not_skewed_to():
    # Differences 4, 4, 4, 0: mean 3, SE 1, t = 3. Residuals 1, 1, 1, -3 have k = -24 / 12^(3/2), which
    # is -0.57735. q + 0.57735 (2 q^2 + 1) / 6 = 3 has the root q = 2.0751.
    # Differences 0, 0, 0, 4: mean 1, SE 1, t = 1, k = 0.57735 on the same side, and q = t.
    estimates, p = compared(totals([4.0, 4, 4, 0], [0.0, 0, 0, 4]))
    assert p == pytest.approx(2 * stats.t.sf([2.0751, 1], 3), rel=1e-4)
    reach = stats.t.ppf(0.975, 3)
    further = reach + 0.57735 * (2 * reach**2 + 1) / 6
    assert estimates[0].ci_low == pytest.approx(max(3 - further, -HIGH), rel=1e-4)
    assert estimates[0].ci_high == pytest.approx(3 + reach)


@pytest.mark.parametrize("n", [10, 20, 30])
def test_the_more_often_a_model_wins_the_smaller_is_p(n):
    rows = [[100.0] * wins + [-100.0] * (n - wins) for wins in range(n // 2, n)]
    _, p = compared(totals(*rows))
    assert (np.diff(p) < 0).all()


@pytest.mark.parametrize("n", [2, 6, 20])
def test_equal_differences_have_two_pseudo_clusters_at_the_largest_differences(n):
    estimates, p = compared(totals([40.0] * n, [0.0] * n))
    for value, found, p_value in zip((40, 0), estimates, p, strict=True):
        students = stats.ttest_1samp([value] * n + [-HIGH, HIGH], 0)
        ends = np.clip(students.confidence_interval(), -HIGH, HIGH)
        assert (found.ci_low, found.ci_high) == pytest.approx(ends)
        assert (found.value, found.method) == (value, PSEUDO_CLUSTERS)
        assert p_value == pytest.approx(students.pvalue)


def test_one_cluster_has_no_interval_no_value_has_nothing_and_few_are_marked():
    of = ClusterTotals(np.array([[4.0, 0], [0, 0]]), np.array([[2.0, 0], [0, 0]]))
    assert scored(of) == [Estimate(2.0, None, None, 1), Estimate(None, None, None, 0)]
    _, p = compared(of)
    assert p[0] == 1 and np.isnan(p[1])
    assert mark_indicative("1.0 - 2.0", LEAST_CLUSTERS - 1) == "~1.0 - 2.0"
    for n_clusters in (LEAST_CLUSTERS, None):
        assert mark_indicative("1.0 - 2.0", n_clusters) == "1.0 - 2.0"
    assert mark_indicative("", 3) == ""


@given(matrix=matrices(max_units=40, max_clusters=14))
def test_an_interval_holds_the_mean_lies_on_the_scale_and_has_a_width(matrix):
    values, clusters = matrix
    for found in scored(cluster_totals(values, clusters), 1.0, 10.0):
        if found.ci_low is not None:
            assert 1 - 1e-6 <= found.ci_low <= found.value <= found.ci_high <= 10 + 1e-6
            assert found.ci_high - found.ci_low > 1e-3


@given(matrix=matrices(max_models=2, max_units=60, max_clusters=20))
def test_p_is_below_0_05_exactly_where_the_interval_leaves_0_out(matrix):
    values, clusters = matrix
    (found,), p = compared(cluster_totals(values[:1] - 4.0, clusters), 9.0)
    if found.ci_low is not None and abs(p[0] - 0.05) > 1e-9:
        assert (p[0] < 0.05) == (not found.ci_low <= 0 <= found.ci_high)


def test_no_interval_of_a_difference_is_beyond_the_largest_difference():
    # Weighted means of strata: clusters are further apart than two models can be.
    (found,), _ = compared(totals([27.0, 9, 3, 0, 12, 3]), 9.0)
    assert found.value == 9.0
    assert -9.0 <= found.ci_low < found.ci_high == 9.0
