"""Set sizes: what may be requested, and their apportionment."""

import math

import numpy as np
import pytest

from methods.image_sets.spec import (
    MAX_IMAGES,
    Packing,
    SetSizeError,
    apportion,
    apportion_more,
    max_sets,
    size_weights,
)
from tests.methods.image_sets.sampled import LIKE_MMDU


def test_sizes_are_a_mapping_to_weights_or_a_list_of_equals():
    assert size_weights("benchmark", {"3": 1.5, 2: 3, "20": 0}) == {2: 3.0, 3: 1.5}
    assert size_weights("instruction", [5, 2]) == {2: 1.0, 5: 1.0}
    assert MAX_IMAGES == {"benchmark": 20, "instruction": 5}


@pytest.mark.parametrize(
    ("kind", "wanted", "sentence"),
    [
        ("benchmark", [1], "must be 2 to 20"),
        ("benchmark", {"2": 1, "21": 0}, "must be 2 to 20"),
        ("instruction", [6], "must be 2 to 5"),
        ("instruction", [], "must be 2 to 5"),
        ("instruction", {"3": 0}, "must be 2 to 5"),
        ("benchmark", {"2": -1}, "must be 0 or more"),
        ("benchmark", {"2": math.inf}, "must be 0 or more"),
        ("benchmark", {"2": "many"}, "must be whole numbers with a number as weight"),
        ("benchmark", [2.5], "must be whole numbers"),
        ("benchmark", "3", None),
        ("benchmark", None, "must be whole numbers"),
    ],
)
def test_sizes_the_kind_does_not_allow_are_an_error(kind, wanted, sentence):
    if sentence is None:
        assert size_weights(kind, wanted) == {3: 1.0}
    else:
        with pytest.raises(SetSizeError, match=rf"of {kind} sets {sentence}"):
            size_weights(kind, wanted)


def test_shares_become_whole_numbers_by_the_largest_quotient():
    # 5/1, 3/1, 5/3 go first; then 5/5 = 3/3 = 1/1, and of equals the smallest size is served.
    assert apportion({2: 5, 3: 3, 4: 1}, 4) == {2: 3, 3: 1}
    # MMDU's benchmark has 110 sets of 3.8 images on average.
    shares = apportion(LIKE_MMDU, 110)
    assert sum(size * n for size, n in shares.items()) / 110 == pytest.approx(3.8, abs=0.1)


def test_a_size_without_room_leaves_its_place_to_the_others():
    # 20 images in all, 10 of them where sets of 5 may be: two fives, then fives have no room; the
    # other 10 make five twos.
    assert apportion_more({2: 1, 5: 1}, {}, None, {2: 20, 5: 10}) == {5: 2, 2: 5}
    # What was made before counts: three twos there are, so fives come first.
    assert apportion_more({2: 1, 5: 1}, {2: 3}, 3, {2: 99, 5: 99}) == {5: 3}
    assert apportion_more({5: 1}, {}, None, {5: 4}) == {}


def test_what_sizes_leave_over():
    packing = Packing([3, 5])
    assert [packing.left_over(n) for n in range(11)] == [0, 1, 2, 0, 1, 0, 0, 1, 0, 0, 0]
    assert packing.used(1000) == 1000
    assert Packing([4, 6]).left_over(1001) == 1


def test_how_many_sets_have_at_most_one_of_a_group():
    # With two sets a group of 10 gives 2, the others one each: 4 = 2 * 2. With three: 5 < 6.
    assert max_sets(np.array([10, 1, 1]), 2) == 2
    assert max_sets(np.array([10, 1, 1]), 3) == 1
    assert max_sets(np.array([1] * 7), 3) == 2
    assert max_sets(np.array([9]), 2) == 0
