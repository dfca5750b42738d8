"""Counts: each set that is missing has its reason."""

from dataclasses import replace

from methods.image_sets import sample_sets
from tests.methods.image_sets.sampled import cluster, plain, reasons_of, spec


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


def test_what_stands_in_for_another_size_is_counted_negative():
    # One three and three twenties are wanted; 12 entries have no twenty, so they give four threes.
    sampled = sample_sets([plain(12)], spec({3: 1, 20: 3}))
    assert reasons_of(sampled) == {
        3: {"made in place of sizes that do not fit": -3},
        20: {"clusters too small": 3},
    }
    assert [(count.wanted, count.made) for count in sampled.counts] == [(1, 4), (3, 0)]
