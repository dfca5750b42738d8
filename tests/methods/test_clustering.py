"""Clustering: the communities of sentence-transformers, and MMDU's two passes over them."""

import numpy as np
import pytest
import torch
from sentence_transformers.util import community_detection

from methods.clustering import communities as clustering
from methods.clustering.communities import threshold_communities
from methods.clustering.placement import Placement, place_entries

TAU = 0.75


def unit(rows) -> np.ndarray:
    vectors = np.asarray(rows, dtype=np.float64)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def at_angles(*degrees: float) -> np.ndarray:
    """Unit vectors of the plane; two of them have the cosine of the angle between."""
    return unit([[np.cos(np.radians(d)), np.sin(np.radians(d))] for d in degrees])


def on_sphere(*tilt_and_turn: tuple[float, float]) -> np.ndarray:
    """Unit vectors by degrees from the pole and degrees around it."""
    radians = [(np.radians(tilt), np.radians(turn)) for tilt, turn in tilt_and_turn]
    return unit([[np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)] for a, b in radians])


def random_vectors(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return unit(generator.normal(size=(generator.integers(2, 80), generator.integers(2, 7))))


def clustered_vectors(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(5, 16))
    noise = generator.normal(size=(90, 16)) * generator.uniform(0.2, 1.2)
    return unit(centres[generator.integers(0, 5, size=90)] + noise)


def duplicated_vectors(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    vectors = random_vectors(seed)
    return vectors[generator.integers(0, len(vectors), size=2 * len(vectors))]


def in_general_position(make, tau: float) -> list[np.ndarray]:
    """Inputs without a pair so near tau that rounding decides."""
    made = [make(seed) for seed in range(12)]
    clear = [each for each in made if np.abs(each @ each.T - tau).min() > 1e-6]
    assert len(clear) > 8
    return clear


def members_of(vectors: np.ndarray, tau: float = TAU, min_size: int = 2) -> list[list[int]]:
    found = threshold_communities(vectors, tau, min_size)
    return [sorted(community.members) for community in found]


# --- The same communities as sentence-transformers -----------------------------------------------


@pytest.mark.parametrize("tau", [0.5, 0.75, 0.9])
@pytest.mark.parametrize("make", [random_vectors, clustered_vectors, duplicated_vectors])
def test_communities_are_those_of_sentence_transformers(make, tau):
    n_found = 0
    for vectors in in_general_position(make, tau):
        expected = community_detection(torch.tensor(vectors), threshold=tau, min_community_size=2)
        found = threshold_communities(vectors, tau)
        assert {frozenset(each.members) for each in found} == set(map(frozenset, expected))
        n_found += len(found)
    assert n_found > 0


@pytest.mark.parametrize("min_size", [1, 2, 3, 5])
def test_communities_of_any_least_size_are_those_of_sentence_transformers(min_size):
    for vectors in in_general_position(clustered_vectors, TAU):
        expected = community_detection(
            torch.tensor(vectors), threshold=TAU, min_community_size=min_size
        )
        found = threshold_communities(vectors, TAU, min_size)
        assert {frozenset(each.members) for each in found} == set(map(frozenset, expected))


# --- Worked by hand ------------------------------------------------------------------------------


def test_the_larger_community_is_taken_first_and_the_smaller_index_on_a_tie():
    # At tau = cos 35 deg each reaches its neighbours 30 deg away:
    #   0: {0, 30}   30: {0, 30, 60}   60: {30, 60, 90}   90: {60, 90}
    # 30 and 60 have three each, 30 comes first; 60 is taken, and 90 is left alone.
    vectors = at_angles(0, 30, 60, 90)
    assert members_of(vectors, tau=np.cos(np.radians(35))) == [[0, 1, 2]]


def test_members_are_listed_centre_first_then_by_falling_similarity():
    # 20 deg reaches all: 25 (5 deg away), 0 (20 deg), 45 (25 deg).
    [community] = threshold_communities(at_angles(0, 20, 45, 25), np.cos(np.radians(30)))
    assert community.centre == 1
    assert community.members == (1, 3, 0, 2)
    cosines = [1.0, np.cos(np.radians(5)), np.cos(np.radians(20)), np.cos(np.radians(25))]
    assert community.similarities == pytest.approx(cosines, abs=1e-6)


def test_texts_whose_only_link_is_a_centre_already_taken_stay_apart():
    # tau = 0.75 is 41.4 deg. The pole (0) reaches 1, 2 and 3, each 40 deg away: 4 members.
    # Vector 1 reaches the pole and four that are 30 deg beyond it: 6 members, taken first.
    # Left are 2 and 3, cos = cos^2 40 + sin^2 40 cos 120 = 0.587 - 0.207 = 0.38 from each other.
    vectors = on_sphere((0, 0), (40, 0), (40, 120), (40, 240), *[(70, 0)] * 4)
    assert members_of(vectors) == [[0, 1, 4, 5, 6, 7]]


def test_a_cosine_of_exactly_tau_joins_and_the_next_number_above_it_does_not():
    vectors = np.array([[1, 0], [0.75, np.sqrt(1 - 0.75**2)]], dtype=np.float32)
    assert float((vectors @ vectors.T)[0, 1]) == 0.75
    assert members_of(vectors, tau=0.75) == [[0, 1]]
    assert members_of(vectors, tau=float(np.nextafter(np.float32(0.75), np.float32(1)))) == []


def test_duplicates_join_even_at_tau_one():
    # Exactly representable, so that their product is exactly 1.
    vectors = np.array([[0, 1], [1, 0], [0, 1]], dtype=np.float32)
    assert members_of(vectors, tau=1.0) == [[0, 2]]


def test_rounding_does_not_cost_a_vector_its_own_community():
    vectors = unit([[1, 1, 1, 1, 1, 1, 1]])
    assert float((vectors @ vectors.T)[0, 0]) != 1.0
    assert members_of(vectors, tau=1.0, min_size=1) == [[0]]


def test_nothing_and_one_vector_have_no_community():
    assert threshold_communities(np.empty((0, 3), dtype=np.float32), TAU) == []
    assert threshold_communities(np.array([], dtype=np.float32), TAU) == []
    assert threshold_communities(at_angles(10), TAU) == []


# --- Laws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [random_vectors, clustered_vectors, duplicated_vectors])
def test_communities_do_not_overlap_and_every_member_is_within_tau_of_the_centre(make):
    for seed in range(10):
        vectors = make(seed)
        found = threshold_communities(vectors, TAU)
        everyone = [index for community in found for index in community.members]
        assert len(everyone) == len(set(everyone))
        sizes = [len(community.members) for community in found]
        assert sizes == sorted(sizes, reverse=True) and min(sizes, default=2) >= 2
        for community in found:
            assert community.members[0] == community.centre
            cosines = vectors[list(community.members)] @ vectors[community.centre]
            assert community.similarities == pytest.approx(cosines, abs=1e-5)
            assert min(community.similarities) >= TAU and max(community.similarities) == 1
            assert list(community.similarities) == sorted(community.similarities, reverse=True)


def test_whoever_is_left_over_has_no_centre_left_that_reaches_two():
    for seed in range(10):
        vectors = clustered_vectors(seed)
        taken = {i for each in threshold_communities(vectors, TAU) for i in each.members}
        free = [i for i in range(len(vectors)) if i not in taken]
        near = (vectors[free] @ vectors[free].T >= TAU).sum(axis=1)
        assert (near <= 1).all()


@pytest.mark.parametrize("block", [1, 7, 89, 90])
def test_comparing_in_blocks_changes_nothing(monkeypatch, block):
    vectors = clustered_vectors(3)
    whole = members_of(vectors)
    monkeypatch.setattr(clustering, "BLOCK", block)
    assert whole and members_of(vectors) == whole


# --- Two passes ----------------------------------------------------------------------------------

# Categories: a-d stand together, e and f together, g alone. Captions: a, b together and c, e, f
# together, d and g with nobody. c is in another group than e and f, so it joins no cluster.
IDS = ["a", "b", "c", "d", "e", "f", "g"]
CATEGORIES = at_angles(0, 5, 9, 12, 120, 124, 240)
CAPTIONS = at_angles(0, 6, 100, 200, 101, 104, 300)


def test_clusters_are_found_inside_groups_alone():
    placed = {each.entry_id: each for each in place_entries(IDS, CATEGORIES, CAPTIONS, TAU)}
    assert len({placed[i].group_id for i in "abcd"}) == 1
    assert len({placed[i].group_id for i in "ef"}) == 1
    assert placed["a"].group_id != placed["e"].group_id
    assert placed["a"].cluster_id == placed["b"].cluster_id is not None
    assert placed["e"].cluster_id == placed["f"].cluster_id is not None
    assert placed["a"].cluster_id != placed["e"].cluster_id
    assert placed["c"].cluster_id is None and placed["d"].cluster_id is None


def test_an_entry_in_no_group_has_its_row_too():
    placed = place_entries(IDS, CATEGORIES, CAPTIONS, TAU)
    assert [each.entry_id for each in placed] == IDS
    assert placed[-1] == Placement("g")


def test_a_placement_says_how_near_it_is_to_which_centre():
    placed = {each.entry_id: each for each in place_entries(IDS, CATEGORIES, CAPTIONS, TAU)}
    # All four reach all four: the first is the centre; d is 12 deg from it.
    assert placed["d"].group_centre == "a"
    assert placed["d"].group_similarity == pytest.approx(np.cos(np.radians(12)), abs=1e-6)
    assert placed["b"].cluster_centre == "a"
    assert placed["b"].cluster_similarity == pytest.approx(np.cos(np.radians(6)), abs=1e-6)
    assert placed["f"].cluster_centre == "e"
    assert placed["d"].cluster_centre is None and placed["d"].cluster_similarity is None


def test_the_same_grouping_has_the_same_name_in_whatever_order_entries_come():
    before = {each.entry_id: each for each in place_entries(IDS, CATEGORIES, CAPTIONS, TAU)}
    order = [6, 3, 0, 5, 2, 4, 1]
    after = place_entries([IDS[i] for i in order], CATEGORIES[order], CAPTIONS[order], TAU)
    for each in after:
        assert each.group_id == before[each.entry_id].group_id
        assert each.cluster_id == before[each.entry_id].cluster_id


def test_other_members_are_another_cluster():
    [*_, first] = place_entries(["a", "b"], at_angles(0, 1), at_angles(0, 1), TAU)
    [*_, second] = place_entries(["a", "c"], at_angles(0, 1), at_angles(0, 1), TAU)
    assert first.group_id != second.group_id and first.cluster_id != second.cluster_id
    # A group and a cluster of the same members are still two things.
    assert first.group_id != first.cluster_id


def test_no_entries_have_no_placements():
    empty = np.array([], dtype=np.float32)
    assert place_entries([], empty, empty, TAU) == []
