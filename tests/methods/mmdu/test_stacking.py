"""Stacked dialogues: images count on, every dialogue is in one stack, no image is twice in one."""

import re

from hypothesis import given
from hypothesis import strategies as st

from methods.mmdu.composing import equal_weights
from methods.mmdu.stacking import stacked_turns, stacks


def turn(question: str, answer: str) -> dict[str, str]:
    return {"question_id": question[:4], "question": question, "answer": answer}


BALLOONS = (
    2,
    [
        turn("Image1: <ImageHere>. What is <image-1>?", "<image-1> is red."),
        turn("Image2: <ImageHere>. Compare <image-1> and <image-2>.", "<image-2> is larger."),
    ],
)
THREE = "Image1: <ImageHere>, Image2: <ImageHere>, Image3: <ImageHere>. "
LAKES = (3, [turn(THREE + "<image-1>, <image-2> or <image-3>?", "<image-3>, as Image1: said.")])


def test_a_stack_worked_by_hand() -> None:
    turns = stacked_turns([BALLOONS, LAKES, BALLOONS])
    assert turns[:2] == BALLOONS[1]
    assert turns[2]["question"] == (
        "Image3: <ImageHere>, Image4: <ImageHere>, Image5: <ImageHere>. "
        "<image-3>, <image-4> or <image-5>?"
    )
    # What is no place of an image stays as it was written.
    assert turns[2]["answer"] == "<image-5>, as Image1: said."
    assert turns[4]["question"] == "Image7: <ImageHere>. Compare <image-6> and <image-7>."
    assert [each["question_id"] for each in turns] == ["Imag"] * 5


def test_any_length_can_be_reached_and_stacks_are_filled():
    turns = stacked_turns([BALLOONS, LAKES] * 30)
    text = " ".join(each["question"] for each in turns)
    places = [int(found) for found in re.findall(r"Image(\d+): <ImageHere>", text)]
    assert places == list(range(1, 151)) and len(turns) == 90
    # Dialogues without common images fill their stacks.
    images_of = {str(n): {f"{n}a", f"{n}b"} for n in range(10)}
    assert sorted(map(len, stacks(images_of, {3: 1}, 0))) == [1, 3, 3, 3]


dialogues = st.dictionaries(
    st.text(min_size=1, max_size=3), st.frozensets(st.integers(0, 12), min_size=2, max_size=4)
)


@given(dialogues, st.integers(1, 5), st.integers(0, 3), st.integers())
def test_every_dialogue_is_in_one_stack_and_no_image_twice(of, least, more, seed) -> None:
    images_of = {name: {str(image) for image in images} for name, images in of.items()}
    made = stacks(images_of, equal_weights(least, least + more), seed)
    assert sorted(name for stack in made for name in stack) == sorted(images_of)
    assert made == stacks(images_of, equal_weights(least, least + more), seed)
    for stack in made:
        shown = [image for name in stack for image in images_of[name]]
        assert len(shown) == len(set(shown)) and len(stack) <= least + more
