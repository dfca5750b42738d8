"""Prior sets: kept while they are valid, repaired or dropped otherwise."""

from dataclasses import replace

import pytest

from methods.image_sets import sample_sets
from tests.methods.image_sets.sampled import (
    cluster,
    ids_of,
    plain,
    prior_of,
    reasons_of,
    sizes_of,
    spec,
)

SIZES = spec([3, 4, 5], "instruction")


def test_entries_that_come_later_move_no_set():
    before = sample_sets([plain(20)], SIZES)
    grown = replace(plain(33), cluster_id="another name")
    after = sample_sets([grown], SIZES, prior_of(before))
    assert after.n_kept == len(before.sets)
    assert {each.set_id for each in before.sets} < {each.set_id for each in after.sets}
    assert {each.cluster_id for each in after.sets} == {"another name"}
    # What is left makes no set.
    assert 33 - sum(sizes_of(after)) < 3


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


def test_of_too_many_sets_those_stay_that_come_nearest_to_the_shares():
    before = sample_sets([plain(40)], spec({2: 3, 5: 1}))
    # 3 to 1 of four sets.
    after = sample_sets([plain(40)], spec({2: 3, 5: 1}, n_sets=4), prior_of(before))
    assert sizes_of(after) == [2, 2, 2, 5] and after.n_kept == 4


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
