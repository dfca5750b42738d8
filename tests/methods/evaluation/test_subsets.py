"""Subsets that keep the ranking: by hand, against scipy's Somers' D, and held-out honesty."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import somersd

from methods.evaluation.subsets import Subsets, _first_that_keeps, smallest_subset

CHOOSE = {"least_tau": 0.9, "n_resamples": 50, "seed": 0}


def test_a_ladder_of_items_needs_one_item_a_step() -> None:
    # Model i has the first i of four items right: item k alone tells who knows k of them.
    ladder = np.array([[float(item < model) for item in range(4)] for model in range(5)])
    found = smallest_subset(ladder, **CHOOSE)
    # One item orders the pairs that it stands between: of ten pairs six, in the middle.
    assert found.of_sizes[0].tau == pytest.approx(0.6)
    assert [of.tau for of in found.of_sizes][-1] == 1.0
    assert found.of_sizes[-1].held_out.mean == 1.0
    assert found.smallest == 3


MATRICES = st.builds(
    lambda n, k, seed: np.random.default_rng(seed).integers(0, 2, (n, k)).astype(float),
    st.integers(4, 7),
    st.integers(1, 12),
    st.integers(0, 10**6),
)


@settings(max_examples=40)
@given(MATRICES)
def test_subsets_are_nested_and_tau_is_somers_d(right: np.ndarray) -> None:
    found = smallest_subset(right, least_tau=0.9, n_resamples=5, seed=3)
    assert found == smallest_subset(right, least_tau=0.9, n_resamples=5, seed=3)
    whole = right.sum(axis=1)
    for small, large in zip(found.of_sizes, found.of_sizes[1:], strict=False):
        assert large.items[: len(small.items)] == small.items
    for of in found.of_sizes:
        assert len(set(of.items)) == len(of.items)
        expected = somersd(whole, right[:, list(of.items)].sum(axis=1)).statistic
        assert of.tau == pytest.approx(expected)
    if found.of_sizes and len(found.of_sizes[-1].items) == right.shape[1]:
        assert found.of_sizes[-1].tau == found.of_sizes[-1].random.mean == 1.0


def test_the_smallest_is_one_from_which_on_all_keep_the_ranking_or_it_says_why_none_is():
    assert _first_that_keeps([0.9, 0.7, 0.8, 0.95], least_tau=0.8) == 2
    assert _first_that_keeps([0.9, 0.7], least_tau=0.8) is None
    # Too few models and no ranking say so.
    few = smallest_subset(np.eye(3), **CHOOSE)
    assert few == Subsets((), None, None, "3 models are too few: it takes 4.")
    same = smallest_subset(np.ones((5, 3)), **CHOOSE)
    assert same.why == "All models have the same score: there is no ranking."
    # Without the one that is apart, the others have one score.
    apart = np.array([[0.0, 1], [0, 1], [0, 1], [1, 1]])
    one_apart = smallest_subset(apart, least_tau=0.9, n_resamples=2, seed=0)
    assert one_apart.why is not None and one_apart.why.startswith("No model can be held out")
