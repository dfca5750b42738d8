"""The pictures of another set: as many, none of its own, and the same ones tomorrow."""

from hypothesis import given
from hypothesis import strategies as st

from methods.quality.outcome import other_images

DIALOGUES = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.lists(st.sampled_from("123456789"), min_size=2, max_size=4, unique=True),
    max_size=8,
)


@given(DIALOGUES, st.integers(0, 3))
def test_they_are_as_many_and_none_is_its_own(images_of: dict[str, list[str]], seed: int) -> None:
    found = other_images(images_of, seed)
    for name, own in images_of.items():
        if name in found:
            assert len(found[name]) == len(own) and not set(found[name]) & set(own)
        else:
            assert all(set(own) & set(others) for others in images_of.values())


def test_another_text_changes_nothing_one_more_dialogue_few_and_no_other_set_is_none():
    images_of = {f"d{n}": [f"p{n}", f"q{n}"] for n in range(40)}
    before = other_images(images_of, 0)
    renamed = {name.replace("d", "e"): images for name, images in images_of.items()}
    after = other_images(renamed, 0)
    assert [after[name.replace("d", "e")] for name in images_of] == list(map(before.get, images_of))
    more = other_images({**images_of, "new": ["x", "y"]}, 0)
    assert sum(more[name] != before[name] for name in images_of) == 1
    # No other set is none.
    assert other_images({"a": ["1", "2"]}, 0) == {}
    assert other_images({"a": ["1", "2"], "b": ["2", "3"]}, 0) == {}
