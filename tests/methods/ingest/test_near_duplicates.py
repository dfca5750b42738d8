"""Near-duplicates: the same groups as comparing everything with everything, without doing so."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.ingest.near_duplicates import NearDuplicatePair, duplicate_groups, near_duplicates

FULL = 2**64 - 1


def distance(one: int, other: int) -> int:
    return (one ^ other).bit_count()


def names(n: int) -> list[str]:
    return [f"{number:03d}" for number in range(n)]


def groups_by_force(ids: list[str], hashes: list[int], max_distance: int) -> dict[str, str]:
    """What `duplicate_groups` must give: walk from image to image over every near pair."""
    near: dict[str, set[str]] = {image_id: set() for image_id in ids}
    for (one, a), (other, b) in combinations(zip(ids, hashes, strict=True), 2):
        if distance(a, b) <= max_distance:
            near[one].add(other)
            near[other].add(one)
    groups = {}
    for image_id in ids:
        reached, todo = {image_id}, [image_id]
        while todo:
            new = near[todo.pop()] - reached
            reached |= new
            todo += new
        if len(reached) > 1:
            groups[image_id] = min(reached)
    return groups


# Hashes crowd around a few, so that there are equal ones, near ones and chains of near ones.
crowded = st.lists(
    st.builds(
        lambda centre, flips: centre ^ sum(1 << bit for bit in flips),
        st.sampled_from([0, FULL, 0x8000000000000000, 0xF0F0F0F0F0F0F0F0]),
        st.sets(st.integers(0, 63), max_size=12),
    ),
    max_size=40,
)
anywhere = st.lists(st.integers(0, FULL), max_size=20)


# --- Worked by hand ------------------------------------------------------------------------------


def test_pairs_are_named_in_order_with_the_bits_they_differ_in():
    # a and c differ in 1 bit; b and c in 2 bits (0b0011 and 0b0000); a and b in 1 (0b0001, 0b0011).
    found = near_duplicates(["c", "b", "a"], [0b0000, 0b0011, 0b0001], 1)
    assert found == [NearDuplicatePair("a", "b", 1), NearDuplicatePair("a", "c", 1)]
    found = near_duplicates(["c", "b", "a"], [0b0000, 0b0011, 0b0001], 2)
    assert found == [
        NearDuplicatePair("a", "b", 1),
        NearDuplicatePair("a", "c", 1),
        NearDuplicatePair("b", "c", 2),
    ]


def test_a_hash_is_hex_digits_or_a_number():
    assert near_duplicates(["a", "b"], ["8000000000000001", 1 << 63], 1) == [
        NearDuplicatePair("a", "b", 1)
    ]
    assert near_duplicates(["a", "b"], ["FFFFFFFFFFFFFFFF", FULL], 0) == [
        NearDuplicatePair("a", "b", 0)
    ]


@pytest.mark.parametrize("max_distance", [0, 1, 6, 10, 31, 63, 64])
def test_a_distance_at_the_limit_is_near_and_one_beyond_is_not(max_distance):
    for apart in range(65):
        # The bits that differ are spread, so that no band is spared.
        bits = random.Random(apart).sample(range(64), apart)
        hashes = [0x0123456789ABCDEF, 0x0123456789ABCDEF ^ sum(1 << bit for bit in bits)]
        expected = [NearDuplicatePair("a", "b", apart)] if apart <= max_distance else []
        assert near_duplicates(["a", "b"], hashes, max_distance) == expected


def test_equal_hashes_are_a_star_around_the_smallest_id():
    hashes = [7, 7, 7, 7, 6]
    # Hash 7 is b, c, d, e: b is paired with each. Hash 6 (a) is 1 bit away from 7, which b stands for.
    assert near_duplicates(["e", "c", "b", "d", "a"], hashes, 1) == [
        NearDuplicatePair("a", "b", 1),
        NearDuplicatePair("b", "c", 0),
        NearDuplicatePair("b", "d", 0),
        NearDuplicatePair("b", "e", 0),
    ]


def test_a_hundred_thousand_equal_hashes_are_as_many_pairs_less_one():
    ids = [f"{number:06d}" for number in range(100_000)]
    found = near_duplicates(ids, [1 << 63] * len(ids), 6)
    assert found == [NearDuplicatePair(ids[0], other, 0) for other in ids[1:]]


def test_a_group_is_whatever_pairs_connect_and_is_named_after_its_smallest():
    ids = ["f", "e", "d", "c", "b", "a"]
    # b - d - f in two steps, c - e in one, a alone.
    pairs = [
        NearDuplicatePair("d", "f", 2),
        NearDuplicatePair("c", "e", 0),
        NearDuplicatePair("b", "d", 1),
    ]
    groups = duplicate_groups(ids, pairs)
    assert groups == {"f": "b", "d": "b", "b": "b", "e": "c", "c": "c"}
    assert list(groups) == ["f", "e", "d", "c", "b"]


def test_nothing_and_one_image_have_no_near_duplicates():
    assert near_duplicates([], [], 6) == [] and duplicate_groups([], []) == {}
    assert near_duplicates(["a"], [0], 64) == [] and duplicate_groups(["a"], []) == {}


# --- Laws ----------------------------------------------------------------------------------------


@given(crowded | anywhere, st.integers(0, 64), st.randoms(use_true_random=False))
def test_groups_are_those_of_comparing_everything_with_everything(hashes, max_distance, shuffler):
    ids = names(len(hashes))
    shuffler.shuffle(ids)
    groups = duplicate_groups(ids, near_duplicates(ids, hashes, max_distance))
    assert groups == groups_by_force(ids, hashes, max_distance)


@given(crowded | anywhere, st.integers(0, 16))
def test_pairs_of_different_hashes_are_all_there_each_once_with_its_distance(hashes, max_distance):
    hashes = sorted(set(hashes))
    ids = names(len(hashes))
    assert near_duplicates(ids, hashes, max_distance) == [
        NearDuplicatePair(one, other, distance(a, b))
        for (one, a), (other, b) in combinations(zip(ids, hashes, strict=True), 2)
        if distance(a, b) <= max_distance
    ]


@given(crowded, st.integers(0, 12), st.randoms(use_true_random=False))
def test_the_order_in_which_images_come_changes_nothing(hashes, max_distance, shuffler):
    images = list(zip(names(len(hashes)), hashes, strict=True))
    before = near_duplicates(*zip(*images, strict=True), max_distance) if images else []
    shuffler.shuffle(images)
    after = near_duplicates(*zip(*images, strict=True), max_distance) if images else []
    assert before == after


def test_every_planted_copy_is_found_among_many():
    draw = random.Random(0)
    hashes = [draw.getrandbits(64) for _ in range(20_000)]
    copies = [each ^ sum(1 << bit for bit in draw.sample(range(64), 6)) for each in hashes[:500]]
    ids = [f"{number:05d}" for number in range(len(hashes) + len(copies))]
    found = near_duplicates(ids, hashes + copies, 6)
    assert found == [NearDuplicatePair(ids[n], ids[20_000 + n], 6) for n in range(500)]


# --- What is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("phash", ["", "flat", "1" * 17, -1, 1 << 64])
def test_what_is_no_hash(phash):
    with pytest.raises(ValueError):
        near_duplicates(["a", "b"], [0, phash], 6)


@pytest.mark.parametrize("max_distance", [-1, 65])
def test_what_is_no_distance(max_distance):
    with pytest.raises(ValueError, match="outside 0 to 64"):
        near_duplicates(["a"], [0], max_distance)


def test_an_id_twice_and_a_hash_too_few():
    with pytest.raises(ValueError, match="twice"):
        near_duplicates(["a", "a"], [0, 0], 6)
    with pytest.raises(ValueError):
        near_duplicates(["a", "b"], [0], 6)


def test_a_pair_of_strangers_makes_no_group():
    with pytest.raises(ValueError, match="'z'"):
        duplicate_groups(["a"], [NearDuplicatePair("a", "z", 0)])
