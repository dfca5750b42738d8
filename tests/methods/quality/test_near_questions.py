"""Groups of questions that are nearly the same, against comparing each with each."""

from hypothesis import given
from hypothesis import strategies as st

from methods.quality.near_questions import first_alike, jaccard, without_numbers, word_pairs

WORDS = st.lists(st.sampled_from(["red", "blue", "mill", "sky", "snow"]), max_size=7).map(" ".join)


def each_with_each(texts: list[str], threshold: float) -> list[int]:
    """The same by its definition."""
    sets, leaders, found = [word_pairs(text) for text in texts], [], []
    for place, own in enumerate(sets):
        best = next((each for each in leaders if jaccard(own, sets[each]) >= threshold), place)
        if best == place:
            leaders.append(place)
        found.append(best)
    return found


@given(st.lists(WORDS, max_size=12), st.sampled_from([0.3, 0.5, 0.7, 0.8, 1.0]))
def test_the_groups_are_those_of_comparing_each_with_each(
    texts: list[str], threshold: float
) -> None:
    assert first_alike(texts, threshold) == each_with_each(texts, threshold)


def test_the_index_is_that_of_word_pairs() -> None:
    # ^ a, a b, b $ and ^ a, a c, c $ share one of five.
    assert jaccard(word_pairs("a b"), word_pairs("A c!")) == 1 / 5


def test_pictures_count_as_one_whatever_their_numbers() -> None:
    asked = "Compare <image-1>, <image-2> and <image-3>."
    assert without_numbers(asked) == "Compare <image-0>."


def test_many_questions_are_grouped_without_comparing_each_with_each() -> None:
    texts = [f"What does the {n} on the {n * 7919 % 10007} tell?" for n in range(20_000)]
    assert first_alike([*texts, *texts], 0.7)[len(texts) :] == first_alike(texts, 0.7)
