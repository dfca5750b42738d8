"""What became of communities: each change by hand."""

import numpy as np
import pytest

from methods.clustering.incremental import CHANGES, compare_communities

NOBODY = "."


def difference(before: str, after: str) -> set[str]:
    """Changes (change, old, new, in common) for entries whose communities are letters.

    `.`: in none; a blank: not there. Old communities are capital letters, new ones small.
    """
    old, new = sorted(set(before) - {NOBODY, " "}), sorted(set(after) - {NOBODY, " "})
    stay = [place for place, letter in enumerate(after) if letter != " "]
    rows = compare_communities(
        np.array([old.index(before[i]) if before[i] in old else -1 for i in stay], dtype=int),
        np.array([new.index(after[i]) if after[i] in new else -1 for i in stay], dtype=int),
        np.array([before[i] != " " for i in stay], dtype=bool),
        len(old),
        len(new),
    )
    return {
        f"{CHANGES[change]} {[*old, '-'][one]} {[*new, '-'][other]} {common}"
        for one, other, change, common in zip(
            rows.old, rows.new, rows.change, rows.n_common, strict=True
        )
    }


CASES = {
    "the same is kept": ("AAABB", "aaabb", "kept A a 3, kept B b 2"),
    "what grew by new entries is kept": ("AA      ", "aaaaaaaa", "kept A a 2"),
    "what lost entries that went is kept": ("AAAAAA", "aa    ", "kept A a 2"),
    "more than half goes on, the rest split off": (
        *("AAAAAAAAAA", "aaaaaaabbb"),
        "kept A a 7, split A b 3",
    ),
    "of two halves neither is the old one": ("AAAA", "aabb", "split A a 2, split A b 2"),
    "nor is any of three parts": (
        *("AAAAAAAAAAA", "aaaaabbbccc"),
        "split A a 5, split A b 3, split A c 3",
    ),
    "the larger goes on when another joins it": (
        *("AAAAABBB", "aaaaaaaa"),
        "kept A a 5, merged B a 3",
    ),
    "of two equal ones neither goes on": ("AABB", "aaaa", "merged A a 2, merged B a 2"),
    "who were in none are a new one": ("AA...  ", "aabbbbb", "kept A a 2, new - b 0"),
    "who are in none now have left theirs": ("AABBB", "aa...", "kept A a 2, gone B - 0"),
    "what fell apart is gone": ("AAAA", "ab..", "split A a 1, split A b 1"),
    "two that exchange their halves are gone, and both new": (
        *("AAAABBBB", "aabbaabb"),
        "gone A - 0, gone B - 0, new - a 0, new - b 0",
    ),
    "one with as many who were in none is not the old one": ("AA..", "aaaa", "merged A a 2"),
    "nothing before": ("    ", "aabb", "new - a 0, new - b 0"),
    "nothing at all": ("", "", ""),
}
"""Entries before and after, and the changes."""


@pytest.mark.parametrize("case", CASES)
def test_changes(case):
    before, after, expected = CASES[case]
    assert difference(before, after) == set(filter(None, expected.split(", ")))


def test_where_nobody_is_left_the_number_of_old_communities_tells_of_them():
    none = np.array([], dtype=int)
    rows = compare_communities(none, none, none.astype(bool), 1, 0)
    assert [CHANGES[change] for change in rows.change] == ["gone"]
    assert rows.old.tolist() == [0] and rows.new.tolist() == [-1]
