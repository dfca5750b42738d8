"""Prior sets: kept while they are valid, repaired or dropped otherwise."""

from dataclasses import replace

import pytest

from methods.image_sets import sample_sets
from tests.methods.image_sets.sampled import cluster, ids_of, plain, prior_of, sizes_of, spec

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
