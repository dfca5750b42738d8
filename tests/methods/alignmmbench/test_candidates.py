"""Which pictures are candidates of which task, why others are not, and drawing among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.alignmmbench.candidates import (
    DroppedEntry,
    SearchableEntry,
    TaskImage,
    candidates,
    sample_candidates,
)
from methods.alignmmbench.tasks import found_keywords

WORDS = {"Counting": ("two", "三只"), "Recognition": ("butterfly", "fruit")}


def pictured(number: int, image: str, text: str) -> SearchableEntry:
    return SearchableEntry(f"entry {number}", image, (text,))


@pytest.mark.parametrize(
    ("text", "keyword", "is_there"),
    [
        ("Two boats", "two", True),
        ("A network of canals", "two", False),
        ("Boats at noon", "boat", True),
        ("Fruit dishes", "dish", True),
        ("Two butterflies", "butterfly", True),
        ("TWO mills", "two", True),
        ("A subway\n map of Tollen", "subway map", True),
        ("三只风车", "三只", True),
        ("风车", "三只", False),
    ],
)
def test_an_english_keyword_is_a_word_and_a_chinese_one_stands_anywhere(text, keyword, is_there):
    assert bool(found_keywords([text], [keyword])) == is_there
    # No keyword spans two texts.
    assert found_keywords(["An old subway", "map of Tollen"], ["subway map"]) == ()


def test_each_entry_is_a_candidate_or_is_removed_for_one_reason() -> None:
    entries = [
        pictured(1, "a", "Two butterflies"),
        pictured(2, "a", "Two more"),
        pictured(3, "b", "Two of a kind, seen again"),
        pictured(4, "c", "A lighthouse"),
        pictured(5, "d", "Fruit"),
        pictured(6, "e", "Fruit on a table"),
        pictured(7, "f", "fruit"),
        pictured(8, "copy", "Two boats"),
    ]
    groups = {"a": "a", "b": "a", "d": "d", "e": "d"}
    # Whatever stands for both: an excluded picture that is not among the entries.
    groups |= {"published": "third", "copy": "third"}
    found = candidates(entries, WORDS, groups, {"d", "published"})
    assert found.candidates == [
        TaskImage("Counting", "entry 1", "a", ("two",)),
        TaskImage("Recognition", "entry 1", "a", ("butterfly",)),
        TaskImage("Recognition", "entry 7", "f", ("fruit",)),
    ]
    assert found.removed == [
        DroppedEntry("entry 2", "a", "exact_duplicate", "entry 1"),
        DroppedEntry("entry 3", "b", "near_duplicate", "entry 1"),
        DroppedEntry("entry 4", "c", "no_keyword"),
        DroppedEntry("entry 5", "d", "excluded"),
        DroppedEntry("entry 6", "e", "near_excluded"),
        DroppedEntry("entry 8", "copy", "near_excluded"),
    ]


def test_a_picture_that_shows_a_keyword_is_a_candidate_whatever_its_texts_say() -> None:
    entries = [
        pictured(1, "a", "Two mills"),
        *(pictured(n, "abc"[n - 1], "A mill") for n in (2, 3)),
    ]
    seen = {"a": {"Recognition": ("fruit",)}, "b": {"Counting": ("two",)}}
    found = candidates(entries, WORDS, {}, set(), seen)
    assert found.candidates == [
        TaskImage("Counting", "entry 1", "a", ("two",)),
        TaskImage("Counting", "entry 2", "b", (), ("two",)),
        TaskImage("Recognition", "entry 1", "a", (), ("fruit",)),
    ]
    assert found.removed == [DroppedEntry("entry 3", "c", "no_keyword")]


POOL = [
    TaskImage(task, f"e{image}", image, ("word",))
    for task, images in (("Counting", "abc"), ("Recognition", "ab"), ("Writing", ""))
    for image in images
]
TASKS = ["Counting", "Recognition", "Writing"]


@given(st.integers(0, 8), st.integers(0, 50))
def test_tasks_take_turns_and_asking_for_more_keeps_what_there_is(n: int, seed: int) -> None:
    some, more = (sample_candidates(POOL, TASKS, most, seed) for most in (n, n + 1))
    assert len(some) == min(n, len(POOL)) and more[:n] == some
    assert len(set(some)) == len(some)
    counts = [sum(each.task == task for each in some) for task in TASKS]
    # Recognition has two pictures, and Writing none.
    assert counts[2] == 0 and (n > 4 or abs(counts[0] - counts[1]) <= 1)
    # Pictures differ as long as they can, and other tasks are not drawn.
    assert len({each.image_id for each in some[:2]}) == min(n, 2)
    assert all(each.task == "Counting" for each in sample_candidates(POOL, ["Counting"], n, seed))
