"""Which letter is right: equally often, by seed, and as it was for items that there were before."""

from collections import Counter
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from methods.choice.lettered import LETTERS, assign_letters


class Choices(NamedTuple):
    """The least that can be placed."""

    answer: str
    distractors: tuple[str, ...]


def drawn(name: int, n_wrong: int) -> Choices:
    return Choices(f"right {name}", tuple(f"wrong {name} {place}" for place in range(n_wrong)))


ITEMS = st.lists(st.integers(1, 7), max_size=30).map(
    lambda counts: [drawn(name, n_wrong) for name, n_wrong in enumerate(counts)]
)


@given(ITEMS, st.integers(0, 5))
def test_the_key_is_the_letter_of_the_right_choice_and_letters_are_used_equally_often(items, seed):
    found = assign_letters(items, seed)
    used: dict[int, Counter[str]] = {}
    for item, (choices, key) in zip(items, found, strict=True):
        assert choices[LETTERS.index(key)] == item.answer
        assert sorted(choices) == sorted((item.answer, *item.distractors))
        counts = used.setdefault(len(choices), Counter(dict.fromkeys(LETTERS[: len(choices)], 0)))
        counts[key] += 1
        # From the first item on.
        assert max(counts.values()) - min(counts.values()) <= 1
    assert assign_letters(items[:7], seed) == found[:7]


@given(ITEMS, st.data())
def test_items_keep_their_order_when_others_come_among_them(items, data):
    before = [item for item in items if data.draw(st.booleans())]
    first = dict(zip(before, assign_letters(before, 0), strict=True))
    kept = {place: first[item].key for place, item in enumerate(items) if item in first}
    now = dict(zip(items, assign_letters(items, 0, kept), strict=True))
    assert {item: now[item] for item in before} == first


def test_new_items_fill_up_the_letters_that_kept_ones_left() -> None:
    items = [drawn(name, 3) for name in range(4)]
    keys = [order.key for order in assign_letters(items, 0, {0: "C", 2: "A"})]
    assert (keys[0], keys[2]) == ("C", "A") and sorted(keys) == list("ABCD")
