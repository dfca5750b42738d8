"""Shapes of dialogues: sampled by seed, within what is allowed, every image in its place."""

from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from methods.mmdu.composing import (
    MultiImageQuestions,
    Weights,
    equal_weights,
    even_parts,
    followed_question,
    seeded_integer,
    shape_of,
)

weights = st.dictionaries(st.integers(0, 5), st.integers(1, 9), min_size=1)


def only(number: int) -> Weights:
    return {number: 1}


def test_a_small_shape_worked_by_hand() -> None:
    shape = shape_of(3, only(1), only(3), 27, 6, 0, "s")
    assert shape.singles == (1, 1, 1)
    assert shape.together == (MultiImageQuestions((1, 2, 3), 3),)
    assert shape.n_turns == 6
    assert even_parts("abcdefghij", 4) == ["abcd", "efg", "hij"]
    assert even_parts("abc", 3) == ["abc"]


def test_a_sampled_number_depends_on_what_it_is_of_and_on_its_weight():
    numbers = [seeded_integer(equal_weights(2, 5), "set", n) for n in range(400)]
    assert set(numbers) == {2, 3, 4, 5}
    assert 3.3 < mean(numbers) < 3.7
    assert seeded_integer(equal_weights(2, 5), "set", 7) == numbers[7]
    assert seeded_integer(only(4), "x") == 4
    # A number is sampled as often as its weight says.
    numbers = [seeded_integer({3: 1, 8: 2, 20: 7}, n) for n in range(1000)]
    assert [round(numbers.count(number) / 100) for number in (3, 8, 20)] == [1, 2, 7]


def test_a_large_set_is_asked_about_in_groups_and_at_the_end_as_a_whole() -> None:
    # As in Figure 10 of MMDU: the first images, then others with one that is known.
    shape = shape_of(9, only(0), only(7), 27, 4, 0, "s")
    first, second, third, whole = shape.together
    assert first == MultiImageQuestions((1, 2, 3), 2)
    assert second.positions[1:] == (4, 5, 6) and second.positions[0] in (1, 2, 3)
    assert third.positions[1:] == (7, 8, 9) and third.positions[0] in range(1, 7)
    assert whole == MultiImageQuestions(tuple(range(1, 10)), 1)
    assert [group.n_questions for group in shape.together] == [2, 2, 2, 1]


def test_large_sets_have_no_more_groups_than_questions_and_leave_out_what_is_too_much():
    whole = tuple(range(1, 10))
    for n_questions, groups in ((2, [(1, 2, 3), whole]), (1, [whole])):
        shape = shape_of(9, only(0), only(n_questions), 27, 4, 0, "s")
        assert [group.positions for group in shape.together] == groups
    # What is too much is left out of single images first.
    shape = shape_of(20, only(1), only(15), 27, 20, 0, "s")
    assert sum(shape.singles) == 12 and set(shape.singles) == {0, 1}
    assert shape.n_turns == 27
    assert shape_of(20, only(2), only(30), 27, 20, 0, "s").singles == (0,) * 20


def test_every_third_question_goes_on_from_one_two_before() -> None:
    assert [followed_question(ordinal) for ordinal in range(1, 8)] == [
        *(None, None, 1, None, None, 4, None)
    ]


@given(
    st.integers(2, 20),
    weights,
    weights.map(lambda each: {number + 1: weight for number, weight in each.items()}),
    st.integers(1, 30),
    st.integers(3, 20),
    st.integers(),
    st.text(),
)
def test_a_shape_keeps_its_limits(n, per_image, per_set, most, together, seed, set_id) -> None:
    shape = shape_of(n, per_image, per_set, most, together, seed, set_id)
    assert shape == shape_of(n, per_image, per_set, most, together, seed, set_id)
    assert len(shape.singles) == n and shape.n_turns <= most
    assert all(0 <= count <= max(per_image) for count in shape.singles)
    n_together = sum(each.n_questions for each in shape.together)
    assert min(min(per_set), most) <= n_together <= max(per_set)
    assert all(each.n_questions >= 1 for each in shape.together)
    *groups, whole = [each.positions for each in shape.together]
    assert whole == tuple(range(1, n + 1))
    assert all(2 <= len(group) <= together and sorted(set(group)) == [*group] for group in groups)
    # Each group has new images, and each after the first has one of an earlier group.
    known: set[int] = set()
    for group in groups:
        assert len(known & {*group}) == bool(known) and min({*group} - known) == len(known) + 1
        known |= {*group}
