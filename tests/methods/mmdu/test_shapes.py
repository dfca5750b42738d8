"""Shapes of dialogues: drawn by seed, within what is allowed, every image in its place."""

from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from methods.mmdu.composing import MultiImageQuestions, seeded_integer, shape_of

ranges = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda each: (min(each), max(each)))


def test_a_small_shape_worked_by_hand() -> None:
    shape = shape_of(3, (1, 1), (3, 3), 27, 0, "s")

    assert shape.singles == (1, 1, 1)
    assert shape.together == (MultiImageQuestions(until=3, n_earlier=0, n_questions=3),)
    assert shape.n_turns == 6


def test_a_drawn_number_takes_every_value_and_depends_on_what_it_is_of() -> None:
    numbers = [seeded_integer((2, 5), "set", n) for n in range(400)]

    assert set(numbers) == {2, 3, 4, 5}
    assert 3.3 < mean(numbers) < 3.7
    assert seeded_integer((2, 5), "set", 7) == numbers[7] and seeded_integer((4, 4), "x") == 4


def test_images_that_enter_together_have_questions_of_their_own() -> None:
    # As in Figure 10 of MMDU: five images, then three, then the last two.
    shape = shape_of(8, (0, 0), (7, 7), 27, 0, "s", enter_together=(3, 3))

    assert shape.singles == (0,) * 8
    assert shape.together == (
        MultiImageQuestions(until=3, n_earlier=0, n_questions=3),
        MultiImageQuestions(until=6, n_earlier=3, n_questions=2),
        MultiImageQuestions(until=8, n_earlier=6, n_questions=2),
    )


def test_a_question_about_images_together_has_two_at_least() -> None:
    shape = shape_of(4, (0, 0), (9, 9), 27, 0, "s", enter_together=(1, 1))

    assert [each.until for each in shape.together] == [2, 3, 4]


def test_there_are_no_more_entries_than_questions() -> None:
    shape = shape_of(10, (0, 0), (2, 2), 27, 0, "s", enter_together=(2, 2))

    assert shape.together == (MultiImageQuestions(2, 0, 1), MultiImageQuestions(10, 2, 1))


def test_what_is_too_much_is_left_out_of_single_images_first() -> None:
    shape = shape_of(20, (1, 1), (15, 15), 27, 0, "s")

    assert sum(shape.singles) == 12 and set(shape.singles) == {0, 1}
    assert shape.n_turns == 27
    assert shape_of(20, (2, 2), (30, 30), 27, 0, "s").singles == (0,) * 20


@given(
    st.integers(2, 20),
    ranges,
    ranges.map(lambda each: (each[0] + 1, each[1] + 1)),
    st.integers(1, 30),
    st.integers(),
    st.text(),
    st.none() | ranges.map(lambda each: (each[0] + 1, each[1] + 1)),
)
def test_a_shape_keeps_its_limits(n, per_image, per_set, most, seed, set_id, entering) -> None:
    shape = shape_of(n, per_image, per_set, most, seed, set_id, entering)

    assert shape == shape_of(n, per_image, per_set, most, seed, set_id, entering)
    assert len(shape.singles) == n and shape.n_turns <= max(most, 1)
    assert all(0 <= count <= per_image[1] for count in shape.singles)
    n_together = sum(each.n_questions for each in shape.together)
    assert min(per_set[0], most) <= n_together <= per_set[1]
    assert all(each.n_questions >= 1 for each in shape.together)
    ends = [each.until for each in shape.together]
    assert ends == sorted(set(ends)) and ends[-1] == n and ends[0] >= 2
    assert [each.n_earlier for each in shape.together] == [0, *ends[:-1]]
