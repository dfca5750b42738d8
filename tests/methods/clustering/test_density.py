"""Density clusters: dense places are found whatever their density, what lies in none stays out."""

import numpy as np
import pytest

from methods.clustering.communities import density_communities
from methods.clustering.neighbours import ThresholdError
from tests.methods.clustering.vectors import at_angles, unit


def two_places_and_strays(seed: int = 0) -> np.ndarray:
    """0-19 within some 3 degrees of one axis, 20-39 within some 12 of another, 40-45 anywhere."""
    generator = np.random.default_rng(seed)
    axes = np.eye(24)
    tight = axes[0] + generator.normal(size=(20, 24)) * 0.01
    loose = axes[1] + generator.normal(size=(20, 24)) * 0.04
    return unit(np.concatenate([tight, loose, axes[2:8] + 0.3 * axes[8:14]]))


def test_two_places_of_different_density_are_two_clusters():
    found = density_communities(two_places_and_strays(), min_size=8)
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


def test_copies_are_as_dense_as_can_be_and_numbers_are_finite():
    found = density_communities(np.repeat(at_angles(0, 90, 180), [3, 4, 4], axis=0), min_size=3)
    # The largest first, ties by the first member: later entries join the first that is near.
    members = [sorted(each.members) for each in found]
    assert members == [[3, 4, 5, 6], [7, 8, 9, 10], [0, 1, 2]]
    assert all(set(each.similarities) == {1.0} for each in found)
    # Numbers that are not finite are refused.
    with pytest.raises(ThresholdError, match="not finite"):
        density_communities(np.array([[np.nan, 0], [1, 0]], dtype=np.float32))


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_vectors_have_no_dense_place(n):
    assert density_communities(at_angles(0, 30, 60)[:n], min_size=4) == []
