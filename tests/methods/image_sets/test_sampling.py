"""Sampling: sizes of sets, and which entries form a set."""

import itertools
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from methods.ids import content_id
from methods.image_sets import Member, sample_sets
from methods.image_sets.pool import farthest_points
from tests.methods.image_sets.sampled import (
    LIKE_MMDU,
    cluster,
    clusters,
    ids_of,
    plain,
    sizes_of,
    spec,
)


@pytest.mark.parametrize(
    ("of", "sizes", "n_sets", "expected"),
    [
        ([0], [2], None, []),
        ([1], [2], None, []),
        ([2], [2], None, [2]),
        # A size that is not wanted is not made, though entries are left over.
        ([3], [20], None, []),
        ([7], [3], None, [3, 3]),
        ([6, 6], [3], None, [3, 3, 3, 3]),
        # 8 by 3 and 5; never 3 + 3 and two left over.
        ([8], [3, 5], None, [3, 5]),
        # The five goes where nothing is left over by it: to the 7 = 5 + 2, not the 6 = 5 + 1.
        ([6, 7], {5: 1, 2: 3}, None, [2, 2, 2, 2, 5]),
        # The twenty is served first, by the only cluster large enough.
        ([4, 4, 20], {2: 4, 20: 1}, None, [2, 2, 2, 2, 20]),
        # Clusters too small for a wanted size give a smaller one.
        ([2, 2, 2], {2: 1, 20: 9}, None, [2, 2, 2]),
        ([2, 2, 2], {2: 1, 20: 9}, 2, [2, 2]),
        ([12], [2, 3], 2, [2, 3]),
        ([12], [2], 0, []),
    ],
)
def test_how_many_sets_of_which_size(of, sizes, n_sets, expected):
    assert sizes_of(sample_sets(clusters(*of), spec(sizes, n_sets=n_sets))) == expected


def test_few_sets_are_taken_from_many_clusters():
    sampled = sample_sets(clusters(40, 9, 5, 5), spec([2], n_sets=4))
    assert {each.cluster_id for each in sampled.sets} == {"c0", "c1", "c2", "c3"}


@pytest.mark.parametrize("n_sets", [None, 110])
def test_many_entries_give_the_wanted_shares(n_sets):
    sizes, draw = [], random.Random(7)
    while sum(sizes) < 2000:
        sizes.append(min(300, int(2 + 4 * draw.paretovariate(1))))
    sampled = sample_sets(clusters(*sizes), spec(LIKE_MMDU, n_sets=n_sets))
    made = Counter(sizes_of(sampled))
    total = sum(LIKE_MMDU.values())
    distance = sum(
        abs(made[size] / made.total() - weight / total) for size, weight in LIKE_MMDU.items()
    )
    # Total variation; of 110 sets each is nearly 1 %.
    assert distance / 2 < (0.01 if n_sets is None else 0.02)
    if n_sets is None:
        assert sum(sizes_of(sampled)) > 0.99 * sum(sizes)
    else:
        assert made.total() == n_sets


def at(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_a_set_begins_with_the_first_and_takes_the_farthest_from_all_it_has():
    # From 0 the farthest is 180; then 90 is 90 from both, 100 only 80 from the nearer.
    assert farthest_points(at(0, 10, 100, 90, 180), 3) == [0, 4, 3]
    # Of two equally far the first.
    assert farthest_points(at(0, 90, 270), 2) == [0, 1]


def test_a_page_whose_image_is_on_offer_offers_its_next():
    # Six pages begin with the same flag; each has a picture of its own besides.
    members = [Member(f"flag{p}", "flag", f"page {p}") for p in range(6)]
    members += [Member(f"own{p}", f"own {p}", f"page {p}") for p in range(6)]
    sampled = sample_sets([cluster(members)], spec([3]))
    assert len(sampled.sets) >= 2
    assert all(sum("flag" in entry for entry in each) <= 1 for each in ids_of(sampled))


def test_a_set_is_named_by_kind_entries_and_order():
    [sampled] = sample_sets([plain(3)], spec([3])).sets
    entries = [member.entry_id for member in sampled.members]
    assert sampled.set_id == content_id("image_set", "benchmark", entries)
    assert (sampled.kind, sampled.cluster_id) == ("benchmark", "c")
    [other] = sample_sets([plain(3)], spec([3], "instruction")).sets
    assert other.set_id != sampled.set_id


def test_seed_and_kind_each_give_sets_of_their_own_and_the_clusters_name_none():
    def sets(name="c", kind="instruction", seed=0):
        return ids_of(
            sample_sets([replace(plain(20), cluster_id=name)], spec([5], kind, seed=seed))
        )

    sampled = [sets(), sets(seed=1), sets(kind="benchmark")]
    assert all(one != other for one, other in itertools.combinations(sampled, 2))
    # A cluster is named by its members' texts: with it, a changed text would change every set.
    assert sets("d") == sets()


def test_an_entry_is_used_as_often_as_it_may_be_and_no_set_comes_twice():
    # Of three entries there is one set of three, however often each may be used.
    assert sizes_of(sample_sets([plain(3)], spec([3], max_uses=5))) == [3]
    sampled = ids_of(sample_sets([plain(12)], spec([3], max_uses=2)))
    uses = Counter(entry for each in sampled for entry in each)
    assert set(uses.values()) == {2} and len(uses) == 12
    assert len(set(map(frozenset, sampled))) == 8


def test_a_page_with_many_images_is_not_what_is_left_over():
    # Four of one page and four others: four pairs, each with one of the page.
    members = plain(8).members
    paged = [replace(each, page_id="p") if i < 4 else each for i, each in enumerate(members)]
    assert sizes_of(sample_sets([cluster(paged)], spec([2]))) == [2, 2, 2, 2]
