"""Image sets: drawn without repetition, within their sizes, the same for the same seed."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.ids import content_id
from methods.image_sets import MAX_IMAGES, ImageSet, Member, draw_sets

MEMBERS = st.lists(
    st.builds(
        Member,
        st.uuids().map(str),
        st.integers(0, 25).map("image {}".format),
        st.integers(0, 25).map("page {}".format),
    ),
    max_size=45,
    unique_by=lambda member: member.entry_id,
)
KINDS = st.sampled_from(["benchmark", "instruction"])


def members(n: int) -> list[Member]:
    return [Member(f"e{i:02}", f"image {i}", f"page {i}") for i in range(n)]


def sizes_of(sets: list[ImageSet]) -> list[int]:
    return [len(each.members) for each in sets]


def test_the_largest_sets_are_those_of_the_paper():
    assert MAX_IMAGES == {"benchmark": 20, "instruction": 5}


@pytest.mark.parametrize(
    ("n", "kind", "size", "expected"),
    [
        (0, "benchmark", 2, []),
        (1, "benchmark", 2, []),
        (2, "benchmark", 2, [2]),
        # Fewer than the size wanted are a set as long as they are two.
        (3, "benchmark", 20, [3]),
        # 7 = 3 + 3 + 1: the one left over joins the last set, 3 + 4.
        (7, "benchmark", 3, [3, 4]),
        (8, "benchmark", 3, [3, 3, 2]),
        # 21 = 20 + 1 and 6 = 5 + 1: the sets are full, the one left over is left out.
        (21, "benchmark", 20, [20]),
        (6, "instruction", 5, [5]),
        (5, "instruction", 4, [5]),
    ],
)
def test_how_many_sets_of_which_size(n, kind, size, expected):
    assert sizes_of(draw_sets("c", members(n), kind, [size], seed=0)) == expected


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [("benchmark", [1]), ("benchmark", [2, 21]), ("instruction", [6]), ("instruction", [])],
)
def test_sizes_the_kind_does_not_allow_are_an_error(kind, sizes):
    with pytest.raises(ValueError, match=rf"Sizes of {kind} sets must be 2 to {MAX_IMAGES[kind]}"):
        draw_sets("c", members(9), kind, sizes, seed=0)


def entries_of(drawn: list[ImageSet]) -> list[str]:
    return [member.entry_id for each in drawn for member in each.members]


def test_of_two_with_one_page_or_one_image_one_is_in_a_set():
    six = [
        *members(4),
        Member("same page", "image 9", "page 0"),
        Member("same image", "image 1", "page 9"),
    ]
    drawn = entries_of(draw_sets("c", six, "benchmark", [6], seed=0))
    assert len(drawn) == 4 and {"e02", "e03"} < set(drawn)
    assert ("e00" in drawn) != ("same page" in drawn)
    assert ("e01" in drawn) != ("same image" in drawn)


def test_of_two_that_look_alike_one_is_in_a_set():
    alike = [
        Member("original", "image 8", "page 8", look="image 8"),
        Member("resized", "image 9", "page 9", look="image 8"),
    ]
    drawn = entries_of(draw_sets("c", [*members(4), *alike], "benchmark", [6], seed=0))
    assert len(drawn) == 5 and {"e00", "e01", "e02", "e03"} < set(drawn)


def test_an_entry_is_not_lost_to_one_that_was_left_out_itself():
    # In a chain a - b - c, where b shares its page with a and its image with c, a and c may stand
    # together whenever b is left out: b is never the reason that only one of them is there.
    chain = [
        Member("a", "image 1", "page 1"),
        Member("b", "image 2", "page 1"),
        Member("c", "image 2", "page 2"),
    ]
    seen = set()
    for seed in range(20):
        drawn = entries_of(draw_sets("c", [*chain, *members(12)[10:]], "benchmark", [5], seed))
        seen.add(frozenset(drawn) - {"e10", "e11"})
    assert seen == {frozenset("ac"), frozenset("b")}


def test_of_two_with_the_same_page_and_image_the_smaller_id_is_drawn():
    twins = [Member("z", "image 0", "page 0"), Member("a", "image 0", "page 0")]
    for pair in (twins, twins[::-1]):
        drawn = draw_sets("c", [*pair, Member("m", "image 1", "page 1")], "benchmark", [2], seed=0)
        assert sorted(entries_of(drawn)) == ["a", "m"]


def test_a_set_is_named_by_kind_entries_and_order():
    [drawn] = draw_sets("c", members(3), "benchmark", [3], seed=0)
    entries = [member.entry_id for member in drawn.members]
    assert drawn.set_id == content_id("image_set", "benchmark", entries)
    assert (drawn.kind, drawn.cluster_id) == ("benchmark", "c")
    [other] = draw_sets("c", members(3), "instruction", [3], seed=0)
    assert other.set_id != drawn.set_id


def test_seed_and_kind_each_give_an_order_of_their_own_and_the_cluster_none():
    def order(cluster="c", kind="instruction", seed=0):
        return entries_of(draw_sets(cluster, members(20), kind, [5], seed))

    orders = [order(), order(seed=1), order(kind="benchmark")]
    assert len(set(map(tuple, orders))) == 3
    # A cluster is named by its members' texts: with it, a changed text would change every set.
    assert order(cluster="d") == order()
    assert order() != sorted(order())


def test_a_changed_text_changes_the_one_set_it_stands_in():
    # The text is part of the entry's id, and of the cluster's; page and image stay.
    before = draw_sets("c", members(20), "instruction", [3, 4, 5], seed=0)
    changed = [
        Member("new", each.image_id, each.page_id) if each.entry_id == "e07" else each
        for each in members(20)
    ]
    after = draw_sets("d", changed, "instruction", [3, 4, 5], seed=0)
    assert len(before) == len(after) > 3
    for one, other in zip(before, after, strict=True):
        held = any(member.entry_id == "e07" for member in one.members)
        assert (one.set_id != other.set_id) == held
    assert "e07" in entries_of(before) and "new" in entries_of(after)


def test_the_global_generator_has_no_say():
    random.seed(1)
    first = draw_sets("c", members(20), "benchmark", [2, 3, 4], seed=0)
    random.seed(2)
    assert draw_sets("c", members(20), "benchmark", [2, 3, 4], seed=0) == first


@given(MEMBERS, KINDS, st.integers(0, 3), st.data())
def test_no_entry_page_or_image_repeats_and_sizes_stay_within_the_kinds(some, kind, seed, data):
    sizes = data.draw(st.lists(st.integers(2, MAX_IMAGES[kind]), min_size=1, max_size=3))
    drawn = draw_sets("c", some, kind, sizes, seed)
    dealt = [member for each in drawn for member in each.members]
    for name in ("entry_id", "image_id", "page_id"):
        values = [getattr(member, name) for member in dealt]
        assert len(values) == len(set(values))
    assert set(dealt) <= set(some)
    assert all(2 <= size <= MAX_IMAGES[kind] for size in sizes_of(drawn))


@given(MEMBERS, KINDS, st.randoms(use_true_random=False))
def test_the_order_members_come_in_changes_nothing(some, kind, shuffler):
    shuffled = list(some)
    shuffler.shuffle(shuffled)
    assert draw_sets("c", shuffled, kind, [2, 5], 0) == draw_sets("c", some, kind, [2, 5], 0)
