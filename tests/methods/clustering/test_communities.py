"""Threshold communities: those of sentence-transformers, largest first, ties by the smaller index."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from methods.clustering.communities import threshold_communities
from tests.methods.clustering.vectors import KINDS, at_angles, is_clear_of, unit

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
