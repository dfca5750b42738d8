"""Cohesion of clusters and pairs that could be merged: by hand in a plane."""

import numpy as np
import pytest

from methods.clustering.cohesion import (
    LabelledVectors,
    measure_cohesion,
    near_centre_pairs,
    nearest_centres,
)

# A: a1 is its centre; cosines of a2 and a3 with it are .8 and .96.
# B: b1 is its centre; the cosine of b2 with it is .96 * .8 + .28 * .6 = .936.
# C: its centre (-1, 0) is no entry any more; the cosine of c2 with it is .8.
POINTS = {
    "a1": (1.0, 0.0),
    "a2": (0.8, 0.6),
    "a3": (0.96, 0.28),
    "b1": (0.8, -0.6),
    "b2": (0.96, -0.28),
    "c2": (-0.8, 0.6),
    "alone": (0.0, 1.0),
}
BY_HAND = LabelledVectors(
    np.array(list(POINTS.values()), dtype=np.float32),
    np.array([0, 0, 0, 1, 1, 2, -1]),
    np.array([True, False, False, True, False, False, False]),
    np.array([POINTS["a1"], POINTS["b1"], (-1.0, 0.0)], dtype=np.float32),
)


def test_size_mean_and_lowest_similarity_leave_the_centre_itself_out() -> None:
    sizes, mean, lowest = measure_cohesion(BY_HAND)
    assert sizes.tolist() == [3, 2, 1]
    assert mean == pytest.approx([(0.8 + 0.96) / 2, 0.936, 0.8])
    assert lowest == pytest.approx([0.8, 0.936, 0.8])


def test_a_centre_alone_is_as_tight_as_can_be_and_no_clusters_have_no_figures() -> None:
    one = np.array([[1.0, 0.0]], dtype=np.float32)
    alone = LabelledVectors(one, np.array([0]), np.array([True]), one)
    assert [each.tolist() for each in measure_cohesion(alone)] == [[1], [1.0], [1.0]]
    nobody = LabelledVectors(one[:0], np.empty(0, np.intp), np.empty(0, bool), one[:0])
    assert [len(each) for each in measure_cohesion(nobody)] == [0, 0, 0]
    assert near_centre_pairs(nobody, 3, -1.0) == []


def test_nearest_centres_by_hand() -> None:
    # a1 b1 = .8, a1 c = -1, b1 c = -.8.
    found, similarities = nearest_centres(BY_HAND.centres, 2)
    assert found.tolist() == [[1, 2], [0, 2], [1, 0]]
    assert similarities == pytest.approx(np.array([[0.8, -1], [0.8, -0.8], [-0.8, -1]]))
    # Where there are fewer centres than asked for, the rest is missing.
    found, similarities = nearest_centres(BY_HAND.centres[:2], 3)
    assert found.tolist() == [[1, -1, -1], [0, -1, -1]]
    assert similarities[:, 1:].tolist() == [[-np.inf, -np.inf]] * 2


def test_among_equal_centres_each_has_others_and_never_itself() -> None:
    same = np.tile(np.array([[0.6, 0.8]], dtype=np.float32), (9, 1))
    found, similarities = nearest_centres(same, 3)
    for centre, others in enumerate(found.tolist()):
        assert centre not in others
        assert len(set(others)) == 3
    assert similarities == pytest.approx(1.0) and similarities.max() <= 1.0


def test_a_pairs_union_is_what_its_better_centre_reaches() -> None:
    (pair,) = near_centre_pairs(BY_HAND, 2, min_similarity=0.75)
    assert (pair.a, pair.b) == (0, 1)
    assert pair.similarity == pytest.approx(0.8)
    # From a1: a2 .8, a3 .96, b1 .8, b2 .96, so .8. From b1: a2 has .64 - .36 = .28.
    assert pair.union_similarity == pytest.approx(0.8)


def test_a_centre_whose_entry_has_gone_is_reached_or_not_as_well() -> None:
    # b1 at C's place: from it c2 has -.64 - .36 = -1, and C's centre -.8, so at most -1 of the two.
    pairs = near_centre_pairs(BY_HAND, 2, min_similarity=-1.1)
    assert [(pair.a, pair.b) for pair in pairs] == [(0, 1), (1, 2), (0, 2)]
    # From b1: b2 .936, c2 -1, centre of C -.8. From C's centre: b1 -.8, b2 -.96, c2 .8: the better one.
    assert pairs[1].union_similarity == pytest.approx(-0.96)
