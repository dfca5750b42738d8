"""Sampling: sizes of sets, which entries form one, laws, and prior sets kept, repaired or dropped."""

import itertools
import math
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from methods.ids import content_id
from methods.image_sets import spec as set_spec
from methods.image_sets.pool import farthest_points
from methods.image_sets.sampling import SampledSets, sample_sets
from tests.methods.clustering.clustered import at_angles

LIKE_MMDU = {2: 47.3, 3: 22, 4: 11, 5: 6, 6: 3.5, 8: 2, 10: 1.8, 12: 3, 15: 2, 20: 1.3}


def cluster(members: list[set_spec.Member]) -> set_spec.Cluster:
    """Vectors follow from the image, so that they go with a member wherever it stands."""
    seeds = [int(content_id(member.image_id)[:8], 16) for member in members]
    vectors = np.zeros((len(members), 8), dtype=np.float32)
    for row, seed in enumerate(seeds):
        vectors[row] = np.random.default_rng(seed).normal(size=8)
    return set_spec.Cluster("c", members, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def plain(n: int, name: str = "c") -> set_spec.Cluster:
    """Entries with a page and an image of their own."""
    return cluster(
        [set_spec.Member(f"{name}{i}", f"image {name}{i}", f"page {name}{i}") for i in range(n)]
    )


def clusters(*sizes: int) -> list[set_spec.Cluster]:
    return [replace(plain(n, f"{c}-"), cluster_id=f"c{c}") for c, n in enumerate(sizes)]


def spec(sizes: object, kind: str = "benchmark", **rest: object) -> set_spec.SamplingSpec:
    return set_spec.SamplingSpec(kind, set_spec.size_weights(kind, sizes), **rest)


def sizes_of(sampled: SampledSets) -> list[int]:
    return sorted(len(each.members) for each in sampled.sets)


def ids_of(sampled: SampledSets) -> list[list[str]]:
    return [[member.entry_id for member in each.members] for each in sampled.sets]


def prior_of(sampled: SampledSets) -> list[list[tuple[str, str]]]:
    return [
        [(member.entry_id, member.image_id) for member in each.members] for each in sampled.sets
    ]


def reasons_of(sampled: SampledSets) -> dict[int, dict[str, int]]:
    return {count.n_images: count.reasons for count in sampled.counts}


@pytest.mark.parametrize(
    ("kind", "wanted", "sentence"),
    [
        ("benchmark", [1], "must be 2 to 20"),
        ("benchmark", {"2": 1, "21": 0}, "must be 2 to 20"),
        ("instruction", [6], "must be 2 to 5"),
        ("benchmark", {"2": -1}, "must be 0 or more"),
        ("benchmark", {"2": math.inf}, "must be 0 or more"),
        ("benchmark", {"2": "many"}, "must be whole numbers with a number as weight"),
        ("benchmark", None, "must be whole numbers"),
    ],
)
def test_sizes_the_kind_does_not_allow_are_an_error(kind, wanted, sentence):
    with pytest.raises(set_spec.SetSizeError, match=rf"of {kind} sets {sentence}"):
        set_spec.size_weights(kind, wanted)
    assert set_spec.size_weights(kind, "3") == {3: 1.0}


def test_shares_become_whole_numbers_by_the_largest_quotient_and_sizes_leave_over():
    # 5/1, 3/1, 5/3 go first; then 5/5 = 3/3 = 1/1, and of equals the smallest size is served.
    assert set_spec.apportion({2: 5, 3: 3, 4: 1}, 4) == {2: 3, 3: 1}
    # MMDU's benchmark has 110 sets of 3.8 images on average.
    shares = set_spec.apportion(LIKE_MMDU, 110)
    assert sum(size * n for size, n in shares.items()) / 110 == pytest.approx(3.8, abs=0.1)
    packing = set_spec.Packing([3, 5])
    assert [packing.left_over(n) for n in range(11)] == [0, 1, 2, 0, 1, 0, 0, 1, 0, 0, 0]
    assert packing.used(1000) == 1000
    assert set_spec.Packing([4, 6]).left_over(1001) == 1


@pytest.mark.parametrize(
    ("of", "sizes", "n_sets", "expected"),
    [
        ([0], [2], None, []),
        ([2], [2], None, [2]),
        # A size that is not wanted is not made, though entries are left over.
        ([3], [20], None, []),
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


def test_a_set_begins_with_the_first_and_takes_the_farthest_from_all_it_has():
    # From 0 the farthest is 180; then 90 is 90 from both, 100 only 80 from the nearer.
    assert farthest_points(at_angles(0, 10, 100, 90, 180), 3) == [0, 4, 3]
    # Of two equally far the first.
    assert farthest_points(at_angles(0, 90, 270), 2) == [0, 1]


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
    # When all sets of one size are there, those of the other size use up what is left.
    assert sum(sizes_of(sample_sets([plain(5)], spec([2, 3], max_uses=8)))) == 5 * 8


def test_a_page_with_many_images_is_not_what_is_left_over():
    # Four of one page and four others: four pairs, each with one of the page.
    members = plain(8).members
    paged = [replace(each, page_id="p") if i < 4 else each for i, each in enumerate(members)]
    assert sizes_of(sample_sets([cluster(paged)], spec([2]))) == [2, 2, 2, 2]


@st.composite
def corpora(draw):
    """Clusters in which pages and near-duplicates repeat."""
    numbers, found = itertools.count(), []
    for name in range(draw(st.integers(0, 4))):
        kinds = draw(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 14)), max_size=25))
        # Images 2n and 2n + 1 look alike.
        members = [
            set_spec.Member(
                f"e{next(numbers):03}", f"{image}", f"page {page}", duplicate_group=f"{image // 2}"
            )
            for image, page in kinds
        ]
        found.append(replace(cluster(members), cluster_id=f"c{name}"))
    return found


@st.composite
def specs(draw):
    kind = draw(st.sampled_from(["benchmark", "instruction"]))
    sizes = st.integers(2, set_spec.MAX_IMAGES[kind])
    weights = draw(st.dictionaries(sizes, st.sampled_from([1, 2, 5]), min_size=1, max_size=4))
    return set_spec.SamplingSpec(
        kind,
        set_spec.size_weights(kind, weights),
        draw(st.none() | st.integers(0, 9)),
        draw(st.integers(1, 3)),
        draw(st.booleans()),
        draw(st.integers(0, 2)),
    )


@settings(max_examples=200, deadline=None)
@given(corpora(), specs())
def test_every_set_keeps_the_rules_and_every_missing_one_has_a_reason(found, of):
    sampled = sample_sets(found, of)
    home = {member.entry_id: each.cluster_id for each in found for member in each.members}
    for each in sampled.sets:
        assert len(each.members) in of.weights
        assert {home[member.entry_id] for member in each.members} == {each.cluster_id}
        for name in (
            "entry_id",
            "image_id",
            "duplicate_group",
            *([] if of.repeat_pages else ["page_id"]),
        ):
            assert len({getattr(member, name) for member in each.members}) == len(each.members)
    uses = Counter(entry for each in ids_of(sampled) for entry in each)
    assert max(uses.values(), default=0) <= of.max_uses
    assert len({frozenset(each) for each in ids_of(sampled)}) == len(sampled.sets)
    assert len(sampled.sets) <= (math.inf if of.n_sets is None else of.n_sets)
    made = Counter(sizes_of(sampled))
    for count in sampled.counts:
        assert count.made == made.pop(count.n_images, 0)
        assert sum(count.reasons.values()) == count.wanted - count.made
        assert all(
            n and (n < 0) == (why == "made in place of sizes that do not fit")
            for why, n in count.reasons.items()
        )
    assert not made
    wanted = sum(count.wanted for count in sampled.counts)
    assert wanted == (len(sampled.sets) if of.n_sets is None else of.n_sets)


SIZES = spec([3, 4, 5], "instruction")


def test_a_changed_text_changes_only_the_set_it_stands_in():
    # The text is part of the entry's id, and of the cluster's; page and image stay.
    before = sample_sets([plain(20)], SIZES)
    changed = [
        replace(each, entry_id="new") if each.entry_id == "c7" else each
        for each in plain(20).members
    ]
    after = sample_sets([replace(cluster(changed), cluster_id="d")], SIZES, prior_of(before))
    # It keeps its place, and the others keep theirs.
    mended = [["new" if entry == "c7" else entry for entry in each] for each in ids_of(before)]
    assert sorted(ids_of(after)) == sorted(mended)
    assert after.n_kept == len(before.sets) - 1


def test_a_set_is_not_mended_with_an_entry_of_a_set_that_is_whole():
    # "a" is gone, and the only other entry with its image, "c", is in the second set.
    pictures = {"b": "image b", "c": "shared", "d": "image d"}
    now = cluster(
        [set_spec.Member(entry, image, f"page {entry}") for entry, image in pictures.items()]
    )
    prior = [[("a", "shared"), ("b", "image b")], [("c", "shared"), ("d", "image d")]]
    after = sample_sets([now], spec([2]), prior)
    assert ids_of(after) == [["c", "d"]] and after.n_kept == 1


def broken_by_duplicate(members):
    return [
        replace(each, duplicate_group="same") if each.entry_id in ("c0", "c1") else each
        for each in members
    ]


@pytest.mark.parametrize(
    ("now", "of"),
    [
        ([replace(plain(2), cluster_id="x"), cluster(list(plain(3).members[2:]))], spec([3])),
        ([cluster(list(plain(3).members[1:]))], spec([3])),
        ([cluster(broken_by_duplicate(plain(3).members))], spec([3])),
        ([cluster([replace(each, page_id="p") for each in plain(3).members])], spec([3])),
        ([plain(3)], spec([2])),
        ([plain(3)], spec([3], n_sets=0)),
    ],
    ids=["torn apart", "gone", "found alike", "one page", "size not wanted", "not wanted at all"],
)
def test_a_set_that_no_longer_holds_goes(now, of):
    was = ["c2", "c0", "c1"]
    sampled = [(entry, f"image {entry}") for entry in was]
    assert sample_sets([plain(3)], spec([3]), [sampled]).n_kept == 1
    after = sample_sets(now, of, [sampled])
    assert after.n_kept == 0 and was not in ids_of(after)


def test_fewer_uses_than_before_leave_no_entry_in_two_sets():
    before = sample_sets([plain(9)], spec([3], max_uses=3))
    after = sample_sets([plain(9)], spec([3]), prior_of(before))
    entries = [entry for each in ids_of(after) for entry in each]
    assert after.n_kept >= 1 and len(entries) == len(set(entries)) == 9


def test_each_missing_set_is_put_down_to_the_first_rule_that_forbids_it():
    big, small = plain(8, "a"), plain(2, "b")
    # Five sets of four are wanted; 8 entries give two, the pair none: 3 clusters too small. The two
    # are made.
    sampled = sample_sets([big, replace(small, cluster_id="s")], spec([4], n_sets=5))
    assert reasons_of(sampled) == {4: {"clusters too small": 3}}
    # All eight look like one of two: no set of four at all.
    alike = [
        replace(each, duplicate_group=f"duplicates {i % 2}") for i, each in enumerate(big.members)
    ]
    sampled = sample_sets([cluster(alike)], spec([4], n_sets=5))
    assert reasons_of(sampled) == {4: {"clusters too small": 3, "images look alike": 2}}
    # Five of one page and three others: one set of four, {page, 1, 2, 3}, and not the second.
    paged = [replace(each, page_id="p") if i < 5 else each for i, each in enumerate(big.members)]
    sampled = sample_sets([cluster(paged)], spec([4], n_sets=5))
    assert reasons_of(sampled) == {4: {"clusters too small": 3, "pages repeat": 1}}
    # A three and a five are wanted of six entries: the three uses up what the five needs, and another
    # three takes its place.
    sampled = sample_sets([plain(6)], spec([3, 5], n_sets=2))
    assert reasons_of(sampled) == {
        3: {"made in place of sizes that do not fit": -1},
        5: {"entries used up": 1},
    }


def test_what_the_other_split_of_a_cluster_has_is_no_lack_of_entries():
    # Five sets of four are wanted. Clusters of 14 and 3 entries make three, the 8 in this split two.
    sampled = sample_sets([plain(8)], spec([4], n_sets=5), whole_sizes=[14, 3])
    assert reasons_of(sampled) == {4: {"clusters too small": 2, "the other split has the rest": 1}}
