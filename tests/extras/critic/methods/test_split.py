"""The splits of a critic's pairs: shares, what stays together, and what both may not have."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras.critic.methods.contamination import (
    PairQuestion,
    SplitOverlap,
    near_duplicate_questions,
    plain_question,
    shared_content,
)
from extras.critic.methods.split import UnsplitPair, assign_splits

WORDS = [
    *("tower", "boat", "harbour", "kite", "museum", "violin"),
    *("garden", "bridge", "lamp", "horse"),
]


def unit(group: str, stratum: str = "s", **said: Any) -> UnsplitPair:
    question = said.get("question", f"{WORDS[sum(map(ord, group)) % 10]} {group}? " * 3)
    return UnsplitPair(
        PairQuestion(group, said.get("images", ()), question), stratum, said.get("before")
    )


def splits(units: list[UnsplitPair], share: float = 0.1, seed: int = 0) -> list[str]:
    return [each.split for each in assign_splits(units, share, seed)]


def apart(units: list[UnsplitPair], found: list[str]) -> list[SplitOverlap]:
    train = [
        each.pair_question for each, split in zip(units, found, strict=True) if split == "train"
    ]
    test = [each.pair_question for each, split in zip(units, found, strict=True) if split == "test"]
    return shared_content(train, test)


def far(n: int) -> str:
    """A question that is near to no other: n in words of its own letters."""
    return " ".join(chr(0x4E00 + 40 * n + place) * 2 for place in range(8))


def test_a_tenth_of_each_category_is_for_testing() -> None:
    units = [
        unit(f"g{n}", "first" if n < 100 else "second", question=far(n))
        for n in range(140)
        for _ in range(2)
    ]
    found = splits(units)
    counts = Counter(zip((each.stratum for each in units), found, strict=True))
    assert counts == {
        ("first", "train"): 180,
        ("first", "test"): 20,
        ("second", "train"): 72,
        ("second", "test"): 8,
    }
    assert apart(units, found) == []
    assert splits(units) == found and splits(units, seed=1) != found
    assert assign_splits([], 0.1, 0) == []


def test_what_hangs_together_is_one_block() -> None:
    units = [
        unit("a", question=far(1), images=("x",)),
        unit("a", question=far(2), images=("y",)),
        unit("b", question=far(3), images=("y",)),
        unit("c", question=far(3)),
        unit("d", question="Which animal sits on the wall behind the house?"),
        unit("e", question="Which animal sits on the wall behind this house"),
        unit("f", question=far(4)),
    ]
    blocks = [each.block for each in assign_splits(units, 0.1, 0)]
    assert blocks == ["a", "a", "a", "a", "d", "d", "f"]


def test_a_category_of_one_block_is_for_training_and_of_two_large_ones_one_is_for_testing() -> None:
    one = [unit("a", question=far(1))] * 5
    assert splits(one) == ["train"] * 5
    assert sorted(splits([*one, *[unit("b", question=far(2))] * 3])) == ["test"] * 3 + ["train"] * 5


def test_what_was_in_a_split_stays_and_what_was_learned_is_never_tested() -> None:
    units = [unit(f"g{n}", question=far(n)) for n in range(30)]
    first = splits(units)
    more = [each._replace(before=split) for each, split in zip(units, first, strict=True)]
    more += [unit(f"h{n}", question=far(40 + n)) for n in range(30)]
    second = splits(more)
    assert second[:30] == first and Counter(second)["test"] == 6
    # A new item joins a block of each split: it is for training now.
    tested, learned = first.index("test"), first.index("train")
    images = ("x", "y")
    joined = [
        each._replace(pair_question=each.pair_question._replace(images=images[n : n + 1]))
        if place in (tested, learned)
        else each
        for n, (place, each) in enumerate(
            sorted(enumerate(more), key=lambda one: one[0] not in (tested, learned))
        )
    ]
    joined.append(unit("new", question=far(99), images=images))
    found = splits(joined)
    assert found[0] == found[1] == found[-1] == "train"


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcdefgh"), st.sampled_from("wxyz"), st.integers(0, 9), st.booleans()
        ),
        max_size=25,
    ),
    st.integers(0, 3),
)
def test_no_split_ever_has_what_the_other_has(
    drawn: list[tuple[str, str, int, bool]], seed: int
) -> None:
    units = [
        unit(group, stratum, question=far(n), images=(group.upper(),) if pictured else ())
        for group, stratum, n, pictured in drawn
    ]
    assert apart(units, splits(units, 0.3, seed)) == []


@pytest.mark.parametrize(
    ("train", "test", "kinds"),
    [
        (PairQuestion("g", (), far(1)), PairQuestion("g", (), far(2)), ["group"]),
        (PairQuestion("g", ("i", "j"), far(1)), PairQuestion("h", ("j",), far(2)), ["image"]),
        (
            PairQuestion("g", (), "What is it?"),
            PairQuestion("h", (), "<ImageHere>\nwhat is IT"),
            ["question"],
        ),
        (
            PairQuestion("g", (), "What is the dog in the picture doing?"),
            PairQuestion("h", (), "What is the dog in this picture doing?"),
            ["near_question"],
        ),
        (PairQuestion("g", ("i",), far(1)), PairQuestion("h", ("j",), far(2)), []),
    ],
)
def test_what_was_planted_in_both_splits_is_found(
    train: PairQuestion, test: PairQuestion, kinds: list[str]
) -> None:
    others = [PairQuestion(f"o{n}", (), far(n)) for n in (10, 11)]
    assert [each.kind for each in shared_content([train, others[0]], [others[1], test])] == kinds


def test_nearness_is_jaccards_index_over_trigrams() -> None:
    # " abcdefgh " has 8 trigrams, " abcdefgx " shares 6 of them: 6 / 10. " abcdefgh" + "i " 7 of 10.
    assert list(near_duplicate_questions(["abcdefgh"], ["abcdefgx", "abcdefghi", "abcdefgh"])) == [
        (0, 2)
    ]
    long = "one two three four five six seven"
    assert list(near_duplicate_questions([long], [f"{long}s"])) == [(0, 0)]
    assert (
        list(near_duplicate_questions(["", "a"], ["", "a"])) == [(1, 1)]
        and list(near_duplicate_questions([""], [""])) == []
    )
    assert plain_question(" <ImageHere>\nWhat's it?! ") == "what s it"
