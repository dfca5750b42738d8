"""Questions in parts: the fewest that fit, of nearly equal size, nothing lost and nothing moved."""

from hypothesis import given
from hypothesis import strategies as st

from methods.mmdu.reading import even_parts, halves, n_that_fit


def test_twelve_answers_of_500_words_are_asked_for_in_three_parts_of_a_reply_of_4096_tokens() -> (
    None
):
    # 500 words are 750 tokens: five fit into 4,096.
    assert n_that_fit(750, 4096) == 5
    assert even_parts(range(1, 13), 5) == [range(1, 5), range(5, 9), range(9, 13)]


def test_parts_worked_by_hand() -> None:
    assert even_parts("abcdefghij", 4) == ["abcd", "efg", "hij"]
    assert even_parts("abc", 3) == ["abc"]
    assert even_parts("", 3) == []
    assert halves("abcde") == ["abc", "de"]
    assert halves("a") == halves("") == []


def test_an_answer_longer_than_the_limit_is_asked_for_alone() -> None:
    assert n_that_fit(750, 300) == 1


@given(st.lists(st.integers()), st.integers(1, 30))
def test_parts_are_the_items_in_their_order_in_the_fewest_parts_of_nearly_one_size(
    items: list[int], most: int
) -> None:
    parts = even_parts(items, most)

    assert [item for part in parts for item in part] == items
    sizes = [len(part) for part in parts]
    assert len(parts) == -(-len(items) // most)
    assert not sizes or (max(sizes) <= most and max(sizes) - min(sizes) <= 1)
