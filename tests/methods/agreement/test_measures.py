"""Measures of agreement: numbers worked by hand, the public implementations, laws, and no NaN."""

import math
from functools import partial

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from methods.agreement.labels import (
    cohen_kappa,
    cohen_kappa_of_draws,
    fleiss_kappa,
    krippendorff_alpha,
    raw_agreement,
    raw_agreement_of_draws,
)
from methods.agreement.rating_matrix import NOBODY_TWICE, MeasureValue, interval
from methods.agreement.scores import (
    FUZZY,
    STRICT,
    band_of,
    fuzzy_accuracy,
    kendall,
    mean_absolute_error,
    pearson,
    quadratic_kappa,
    spearman,
    strict_accuracy,
)

pytestmark = pytest.mark.slow

NAN = math.nan
nominal = partial(krippendorff_alpha, level="nominal")
ordinal = partial(krippendorff_alpha, level="ordinal")
OF_ALL = [raw_agreement, fleiss_kappa, nominal, ordinal]
OF_PAIRS = [
    *(cohen_kappa, pearson, spearman, kendall, mean_absolute_error),
    *(fuzzy_accuracy, strict_accuracy, quadratic_kappa),
]


def pair(*both: tuple[float, float]) -> np.ndarray:
    return np.array(both, dtype=float)


# Krippendorff (2011), example C: four observers, twelve units, ratings missing.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


def test_raw_agreement_is_the_share_of_agreeing_pairs():
    assert raw_agreement(pair((0, 0), (1, 1), (0, 1), (1, 0))).value == 2 / 4
    # Three raters: all agree, 3 of 3 pairs; one differs, 1 of 3. An item rated once says nothing.
    of_three = np.array([[0, 0, 0], [0, 0, 1], [1, NAN, NAN]])
    assert raw_agreement(of_three).value == pytest.approx((1 + 1 / 3) / 2)


def test_cohens_kappa_takes_off_what_habits_alone_would_give():
    # 50 items: both yes 20, a alone yes 5, b alone yes 10, both no 15.
    # p_o = 35/50 = 0.7; a says yes to 25/50, b to 30/50: p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    ratings = pair(*[(1, 1)] * 20, *[(1, 0)] * 5, *[(0, 1)] * 10, *[(0, 0)] * 15)
    assert cohen_kappa(ratings).value == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    # Opposite labels of two items: (0 - 0.5) / (1 - 0.5).
    assert cohen_kappa(pair((0, 1), (1, 0))).value == pytest.approx(-1)


def test_krippendorffs_alpha_by_hand_and_as_he_published_it():
    # Two raters, items (0,0) (0,0) (1,1) (0,1): coincidences o_00 = 4, o_11 = 2, o_01 = o_10 = 1;
    # margins 5 and 3, n = 8. alpha = 1 - 7 * (1 + 1) / (2 * 5 * 3) = 1 - 14/30.
    ratings = pair((0, 0), (0, 0), (1, 1), (0, 1))
    assert nominal(ratings).value == pytest.approx(1 - 14 / 30)
    # With two values there is one distance, whatever it is: it cancels.
    assert ordinal(ratings).value == pytest.approx(1 - 14 / 30)
    # Values 1, 2, 3 in (1,1) (1,2) (3,3): margins 3, 1, 2, middles 1.5, 3.5, 5, so d_12 = 4,
    # d_13 = 12.25, d_23 = 2.25. Observed 2 * 1 * 4 = 8; expected 2 * (3*4 + 6*12.25 + 2*2.25) = 180.
    assert ordinal(pair((1, 1), (1, 2), (3, 3))).value == pytest.approx(1 - 5 * 8 / 180)
    assert nominal(OBSERVERS).value == pytest.approx(0.743, abs=5e-4)
    assert ordinal(OBSERVERS).value == pytest.approx(0.815, abs=5e-4)


def test_correlations_and_error_of_scores_with_a_tie():
    scores = pair((1, 2), (2, 1), (3, 4), (3, 9))
    # Deviations from the means 2.25 and 4: (-1.25, -2) (-0.25, -3) (0.75, 0) (0.75, 5).
    # Products 2.5 + 0.75 + 0 + 3.75 = 7; squares 2.75 and 38.
    assert pearson(scores).value == pytest.approx(7 / math.sqrt(2.75 * 38))
    # Ranks 1, 2, 3.5, 3.5 and 2, 1, 3, 4 about 2.5: products 0.75 + 0.75 + 0.5 + 1.5 = 3.5;
    # squares 4.5 and 5.
    assert spearman(scores).value == pytest.approx(3.5 / math.sqrt(4.5 * 5))
    # Six pairs of items: one in opposite orders, four in the same, one tied for the first rater.
    assert kendall(scores).value == pytest.approx((4 - 1) / math.sqrt(6 * 5))
    assert mean_absolute_error(scores).value == (1 + 1 + 1 + 6) / 4


def test_bands_hold_every_score_and_a_mean_between_two_is_in_the_lower_one():
    scores = np.arange(1, 11, dtype=float)
    assert band_of(scores, FUZZY).tolist() == [1, 1, 2, 2, 2, 3, 3, 3, 4, 4]
    assert band_of(scores, STRICT).tolist() == [1, 2, 3, 4, 4, 5, 6, 6, 7, 7]
    between = np.array([2.5, 5.9, 8.01, 3.5])
    assert band_of(between, FUZZY).tolist() == [1, 2, 3, 2]
    assert band_of(between, STRICT).tolist() == [2, 4, 6, 3]


def test_quadratic_kappa_by_hand_and_on_means():
    # Differences 1, 0, 2: mean square 5/3. Means 2 and 3, variances 2/3 and 2: by chance 11/3.
    assert quadratic_kappa(pair((1, 2), (2, 2), (3, 5))).value == pytest.approx(1 - 5 / 11)
    # The same scores in half the points: nothing changes.
    assert quadratic_kappa(pair((0.5, 1), (1, 1), (1.5, 2.5))).value == pytest.approx(1 - 5 / 11)
    # A rater who is stricter by 2 throughout correlates fully: (2/3 + 2/3) / (2/3 + 2/3 + 4).
    stricter = pair((1, 3), (2, 4), (3, 5))
    assert quadratic_kappa(stricter).value == pytest.approx(1 / 4)
    assert pearson(stricter).value == pytest.approx(1)


def drawn_items(seed: int, n_raters: int):
    """Ratings of 30 items in clusters, and what `of_draws` and the items of each draw have."""
    generator = np.random.default_rng(seed)
    n_clusters = int(generator.integers(1, 8))
    ratings = generator.integers(0, generator.integers(2, 6), size=(30, n_raters)).astype(float)
    ratings[generator.random(30) < 0.3, 2:] = NAN
    cluster_of = np.arange(30) % n_clusters
    draws = generator.integers(0, n_clusters, size=(50, n_clusters))
    items = [np.concatenate([ratings[cluster_of == each] for each in draw]) for draw in draws]
    return (ratings, cluster_of, draws), items


@pytest.mark.parametrize("seed", range(20))
def test_cohens_kappa_of_a_draw_is_that_of_scikit_learn_on_the_drawn_items(seed):
    from sklearn.metrics import cohen_kappa_score

    of_draws, items = drawn_items(seed, 2)
    for drawn, found in zip(items, cohen_kappa_of_draws(*of_draws), strict=True):
        assert found == pytest.approx(cohen_kappa_score(*drawn.T), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_raw_agreement_of_a_draw_is_that_of_the_drawn_items(seed):
    of_draws, items = drawn_items(seed, 3)
    for drawn, found in zip(items, raw_agreement_of_draws(*of_draws), strict=True):
        assert found == pytest.approx(raw_agreement(drawn).value, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_quadratic_kappa_is_that_of_scikit_learn(seed):
    from sklearn.metrics import cohen_kappa_score

    generator = np.random.default_rng(seed)
    first, second = generator.integers(1, 11, size=(2, 40))
    expected = cohen_kappa_score(first, second, labels=range(1, 11), weights="quadratic")
    found = quadratic_kappa(np.stack([first, second], axis=1).astype(float)).value
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("measure", "bands"), [(fuzzy_accuracy, FUZZY), (strict_accuracy, STRICT)])
@pytest.mark.parametrize("seed", range(5))
def test_accuracy_is_that_of_scikit_learn_on_the_bands(seed, measure, bands):
    from sklearn.metrics import accuracy_score

    first, second = np.random.default_rng(seed).integers(1, 11, size=(2, 40))

    def band(score):
        return next(number for number, (low, high) in enumerate(bands) if low <= score <= high)

    expected = accuracy_score([*map(band, first)], [*map(band, second)])
    assert measure(np.stack([first, second], axis=1).astype(float)).value == expected


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", range(20))
def test_krippendorffs_alpha_is_that_of_the_package_krippendorff(seed, level):
    generator = np.random.default_rng(seed)
    ratings = generator.integers(1, 11, size=(25, 4)).astype(float)
    whole = ratings.copy()
    ratings[generator.random(ratings.shape) < 0.4] = NAN
    expected = krippendorff.alpha(ratings.T, level_of_measurement=level)
    assert krippendorff_alpha(ratings, level).value == pytest.approx(expected)
    # Of complete ratings, n in all: alpha = kappa + (1 - kappa) / n (Krippendorff 2011).
    alpha = krippendorff.alpha(whole.T, level_of_measurement="nominal")
    kappa = fleiss_kappa(whole).value
    assert kappa + (1 - kappa) / whole.size == pytest.approx(alpha)


ONE_RATER = np.array([[1.0, NAN], [2.0, NAN], [3.0, NAN], [1.0, NAN]])
ONE_LABEL = pair(*[(1, 1)] * 4)


@pytest.mark.parametrize("measure", [*OF_ALL, *OF_PAIRS])
@pytest.mark.parametrize("ratings", [ONE_RATER, np.empty((0, 2))], ids=["one rater", "no item"])
def test_one_rater_agrees_with_nobody(measure, ratings):
    assert measure(ratings) == MeasureValue(None, NOBODY_TWICE)


@pytest.mark.parametrize("measure", [cohen_kappa, fleiss_kappa, nominal, ordinal, quadratic_kappa])
def test_with_one_label_chance_explains_everything(measure):
    found = measure(ONE_LABEL)
    assert found.value is None and "same" in found.reason
    assert raw_agreement(ONE_LABEL).value == 1
    if measure in (cohen_kappa, quadratic_kappa):
        one = 7.1 + np.array([0.0, 0, 0, 1e-16])
        found = measure(np.stack([one, np.array([3.0, 5, 8, 9])], axis=1))
        assert found.value is None and "One of the two gave every item the same" in found.reason


@pytest.mark.parametrize("measure", [pearson, spearman, kendall])
def test_a_correlation_needs_three_items_and_scores_that_differ(measure):
    assert measure(pair((1, 2), (3, 4))).reason == "A correlation needs 3 items or more."
    constant = measure(pair((1, 5), (2, 5), (3, 5)))
    assert constant == MeasureValue(None, "One of the two gave every item the same score.")
    assert measure(pair((1, 1), (2, 2), (3, 3))).value == pytest.approx(1)


def test_fleiss_kappa_says_when_items_have_unequal_numbers_of_ratings():
    ratings = np.array([[0, 1, 1], [0, 0, NAN], [1, NAN, NAN]])
    reason = "Items have 2 to 3 ratings each; it is defined for equally many."
    assert fleiss_kappa(ratings).reason == reason
    # An item rated once is none of them.
    assert fleiss_kappa(ratings[[0, 2]]).value is not None


@pytest.mark.parametrize("measure", OF_PAIRS)
def test_measures_of_two_raters_refuse_three(measure):
    with pytest.raises(ValueError, match="two raters, not 3"):
        measure(np.ones((4, 3)))


SCORES = st.sampled_from([1.0, 2.0, 3.0, NAN])


@given(arrays(float, st.tuples(st.integers(0, 6), st.just(2)), elements=SCORES))
def test_any_ratings_give_a_number_or_a_reason_and_raters_are_alike(ratings):
    for measure in [*OF_ALL, *OF_PAIRS]:
        found = measure(ratings)
        assert (found.value is None) != (found.reason is None)
        if found.value is not None:
            assert math.isfinite(found.value)
            assert measure(ratings[:, ::-1]).value == pytest.approx(found.value)
            assert measure(ratings[::-1]).value == pytest.approx(found.value)
            if measure is not mean_absolute_error:
                assert found.value <= 1 + 1e-12


def test_the_interval_is_that_of_the_binomial_where_each_set_is_one_item():
    # Of 16 items drawn each agrees with 1/2: P(X <= 3) = 0.011 < 0.025 < P(X <= 4) = 0.038.
    half, sets = pair(*[(0, 0)] * 8, *[(0, 1)] * 8), [*"abcdefghijklmnop"]
    found = interval(raw_agreement, half, sets, seed=0, n_resamples=10_000)
    assert found == pytest.approx((4 / 16, 12 / 16))
    # Items of one set are drawn together: half of all draws of two sets have one of them twice.
    two = ["agreed"] * 8 + ["not"] * 8
    assert interval(raw_agreement, half, two, seed=0) == (0, 1)
    assert interval(raw_agreement, half, ["one"] * 16, seed=0) == (0.5, 0.5)


@pytest.mark.parametrize("of_draws", [None, cohen_kappa_of_draws])
def test_draws_without_a_value_are_left_out_and_no_value_has_no_interval(of_draws):
    # Of three items two have the same labels: every draw without the third is of one label.
    ratings = pair((0, 0), (0, 0), (1, 1))
    settings = {"seed": 0, "n_resamples": 200, "of_draws": of_draws}
    assert interval(cohen_kappa, ratings, [*"abc"], **settings) == (1, 1)
    assert interval(cohen_kappa, ONE_LABEL, [*"abcd"], **settings) is None
