"""Communities by threshold and by density, how cohesive clusters are, and entries on a plane."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from methods.clustering.cohesion import (
    LabelledVectors,
    measure_cohesion,
    near_centre_pairs,
    nearest_centres,
)
from methods.clustering.communities import density_communities, threshold_communities
from methods.clustering.neighbours import ThresholdError
from methods.clustering.projection import MIN_POINTS, project, sample_for_map
from tests.methods.clustering.clustered import KINDS, at_angles, is_clear_of, unit

TAU = 0.75


def members_of(vectors: np.ndarray, tau: float = TAU, min_size: int = 2) -> list[list[int]]:
    found = threshold_communities(vectors, tau, min_size)
    return [sorted(community.members) for community in found]


@pytest.mark.parametrize("number", [np.float32, np.float16])
@pytest.mark.parametrize("make", KINDS)
@settings(max_examples=settings.default.max_examples // 3)
@given(
    seed=st.integers(0, 10**6),
    tau=st.sampled_from([0.3, 0.5, 0.75, 0.9]),
    min_size=st.integers(1, 5),
)
def test_communities_are_those_of_sentence_transformers(make, number, seed, tau, min_size):
    import torch
    from sentence_transformers.util import community_detection

    given_vectors = make(seed).astype(number)
    # The reference would multiply halves as halves: it gets the same vectors in float32.
    vectors = given_vectors.astype(np.float32)
    assume(is_clear_of(unit(vectors), tau))
    expected = community_detection(
        torch.tensor(vectors), threshold=tau, min_community_size=min_size
    )
    # The reference gives them largest first, though it chooses them by how many each could have had.
    found = sorted(
        threshold_communities(given_vectors, tau, min_size), key=lambda each: -len(each.members)
    )
    assert {frozenset(each.members) for each in found} == set(map(frozenset, expected))
    assert [len(each.members) for each in found] == [len(each) for each in expected]
    # Without copies the centres agree, too; of equal vectors rounding decides in the reference.
    if len(np.unique(vectors, axis=0)) == len(vectors):
        assert [each.centre for each in found] == [each[0] for each in expected]


def test_members_are_listed_centre_first_then_by_falling_similarity():
    # 20 deg reaches all: 25 (5 deg away), 0 (20 deg), 45 (25 deg).
    [community] = threshold_communities(at_angles(0, 20, 45, 25), np.cos(np.radians(30)))
    assert community.centre == 1
    assert community.members == (1, 3, 0, 2)
    cosines = [1.0, np.cos(np.radians(5)), np.cos(np.radians(20)), np.cos(np.radians(25))]
    assert community.similarities == pytest.approx(cosines, abs=1e-6)


def test_rounding_does_not_cost_a_vector_its_own_community_and_few_have_none():
    vectors = unit([[1, 1, 1, 1, 1, 1, 1]])
    assert float((vectors @ vectors.T)[0, 0]) != 1.0
    assert members_of(vectors, tau=1.0, min_size=1) == [[0]]
    # Exactly representable, so that their product is exactly 1.
    assert members_of(np.array([[0, 1], [1, 0], [0, 1]], dtype=np.float32), tau=1.0) == [[0, 2]]
    for few in (np.empty((0, 3), np.float32), np.array([], np.float32), at_angles(10)):
        assert threshold_communities(few, TAU) == []


def test_two_places_of_different_density_are_two_clusters():
    # 0-19 within some 3 degrees of one axis, 20-39 within some 12 of another, 40-45 anywhere.
    generator = np.random.default_rng(0)
    axes = np.eye(24)
    near = axes[0] + generator.normal(size=(20, 24)) * 0.01
    wide = axes[1] + generator.normal(size=(20, 24)) * 0.04
    vectors = unit(np.concatenate([near, wide, axes[2:8] + 0.3 * axes[8:14]]))
    found = density_communities(vectors, min_size=8)
    assert len(found) == 2
    tight, loose = sorted(found, key=lambda each: min(each.members))
    assert set(tight.members) <= set(range(20)) and len(tight.members) >= 16
    assert set(loose.members) <= set(range(20, 40)) and len(loose.members) >= 16


def test_the_centre_is_the_medoid_and_comes_first():
    # Of 0, 10, 12 and 20 degrees, 10 is nearest to all: cosines 0.985 + 1 + 0.9994 + 0.985 = 3.969;
    # 12 has 0.978 + 0.9994 + 1 + 0.990 = 3.968.
    found = density_communities(at_angles(0, 10, 12, 20, 150, 160, 162, 170), min_size=3)
    first = next(each for each in found if 0 in each.members or 1 in each.members)
    assert first.centre == first.members[0] == 1
    assert first.members[:2] == (1, 2)
    assert first.similarities[:2] == pytest.approx([1, np.cos(np.radians(2))], abs=1e-6)
    assert list(first.similarities) == sorted(first.similarities, reverse=True)


def test_copies_are_as_dense_as_can_be_and_few_have_no_dense_place():
    found = density_communities(np.repeat(at_angles(0, 90, 180), [3, 4, 4], axis=0), min_size=3)
    # The largest first, ties by the first member: later entries join the first that is near.
    members = [sorted(each.members) for each in found]
    assert members == [[3, 4, 5, 6], [7, 8, 9, 10], [0, 1, 2]]
    assert all(set(each.similarities) == {1.0} for each in found)
    for n in range(4):
        assert density_communities(at_angles(0, 30, 60)[:n], min_size=4) == []
    # Numbers that are not finite are refused.
    with pytest.raises(ThresholdError, match="not finite"):
        density_communities(np.array([[np.nan, 0], [1, 0]], dtype=np.float32))


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
    # From a1: a2 .8, a3 .96, b1 .8, b2 .96, so .8. From b1: a2 has .64 - .36 = .28.
    assert (pair.similarity, pair.union_similarity) == pytest.approx((0.8, 0.8))
    pairs = near_centre_pairs(BY_HAND, 2, min_similarity=-1.1)
    assert [(pair.a, pair.b) for pair in pairs] == [(0, 1), (1, 2), (0, 2)]
    # A centre whose entry has gone counts as well. From b1: b2 .936, c2 -1, centre of C -.8. From C's
    # centre: b1 -.8, b2 -.96, c2 .8: the better one.
    assert pairs[1].union_similarity == pytest.approx(-0.96)


ENTRIES = [(f"entry-{number}", number % 3 == 0) for number in range(30)]


def blobs(seed: int, n_blobs: int = 4, n_each: int = 15, d: int = 64) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = np.repeat(rng.normal(size=(n_blobs, d)), n_each, axis=0)
    vectors = centres + 0.15 * rng.normal(size=centres.shape)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_clustered_entries_come_first_up_to_the_limit() -> None:
    assert set(sample_for_map(ENTRIES, 10, seed=0)) == {
        each for each, clustered in ENTRIES if clustered
    }
    twelve = sample_for_map(ENTRIES, 12, seed=0)
    assert len(twelve) == 12 and twelve[:10] == sample_for_map(ENTRIES, 10, seed=0)
    assert sorted(sample_for_map(ENTRIES, 99, seed=0)) == sorted(each for each, _ in ENTRIES)


@pytest.mark.parametrize("seed", range(2))
def test_neighbours_stay_neighbours_and_the_same_seed_gives_the_same_places(seed: int) -> None:
    vectors = blobs(seed)
    plane = project(vectors, seed=seed)
    assert plane.shape == (60, 2) and plane.dtype == np.float32
    distance = np.linalg.norm(plane[:, None] - plane[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    # Each point's nearest on the map is of its own blob.
    assert (distance.argmin(axis=1) // 15 == np.arange(60) // 15).all()
    assert seed or (project(vectors, seed=seed) == plane).all()


@pytest.mark.parametrize("n", range(MIN_POINTS + 2))
def test_any_number_of_points_has_places_and_equal_ones_the_same(n: int) -> None:
    plane = project(blobs(0)[:n], seed=0)
    assert plane.shape == (n, 2)
    assert np.isfinite(plane).all()
    assert (project(np.ones((8 * n, 8), dtype=np.float32), seed=0) == 0).all()


def test_few_points_lie_along_their_main_axes() -> None:
    # On a line: the second axis has nothing to say.
    line = np.outer(np.array([-1, 0, 2], dtype=np.float32), np.ones(4, dtype=np.float32))
    plane = project(line, seed=0)
    gaps = np.diff(plane[:, 0])
    assert gaps[1] / gaps[0] == pytest.approx(2.0, rel=1e-5)
    assert plane[:, 1] == pytest.approx(np.zeros(3), abs=1e-5)
