"""Splits: every item in one split, four of ten in dev, and none ever changes its split."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.mmbench.building import DEV, TEST, split_items

LEAVES = st.dictionaries(
    st.text("abcdef0123456789", min_size=1, max_size=4), st.sampled_from("uvwxyz"), max_size=60
)


@pytest.mark.parametrize("ability", ["ocr", "ability {}"], ids=["one ability", "ten abilities"])
def test_four_of_ten_items_or_abilities_with_one_item_each_are_in_dev(ability) -> None:
    of = {f"item {number}": ability.format(number) for number in range(10)}
    found = split_items(of, {}, seed=0)
    assert Counter(found.values()) == {DEV: 4, TEST: 6}


@given(LEAVES, st.integers(0, 3))
def test_the_ratio_is_kept_over_all_and_in_each_ability(leaves: dict[str, str], seed: int) -> None:
    found = split_items(leaves, {}, seed)
    assert found.keys() == leaves.keys() and set(found.values()) <= {DEV, TEST}
    n_dev = Counter(found.values())[DEV]
    assert abs(n_dev - 0.4 * len(leaves)) <= 0.5
    for leaf in set(leaves.values()):
        of_leaf = [item_id for item_id in leaves if leaves[item_id] == leaf]
        in_dev = sum(found[item_id] == DEV for item_id in of_leaf)
        assert abs(in_dev - 0.4 * len(of_leaf)) < 1
    # The order of the items says nothing.
    assert split_items(dict(reversed(leaves.items())), {}, seed) == found


@given(LEAVES, LEAVES, st.integers(0, 3))
def test_an_item_stays_in_its_split_whatever_comes_or_goes(first, second, seed) -> None:
    before = split_items(first, {}, seed)
    after = split_items(second, before, seed)
    assert after.keys() == second.keys()
    assert all(after[item_id] == before[item_id] for item_id in first.keys() & second.keys())
