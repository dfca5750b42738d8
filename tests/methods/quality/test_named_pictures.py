"""Texts that name a picture which the dialogue does not have, and those that name another one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.translation_checks import ORDINALS
from methods.quality.named_pictures import MOST_NAMED, missing_picture
from methods.quality.outcome import DialogueContent, QuestionAnswerPair
from methods.quality.rules import RuleLimits, by_rules


@pytest.mark.parametrize(
    ("text", "n_pictures", "named"),
    [
        ("Compare <image-1> with <image-4>.", 3, "<image-4>"),
        ("<image-0> is red.", 3, "<image-0>"),
        ("What does the third picture show?", 2, "third picture"),
        ("In the 12th photo a man waves.", 9, "12th photo"),
        ("Image #3 shows a mill.", 2, "Image #3"),
        ("Who waves in picture two?", 1, "picture two"),
        ("Images 1 and 3 differ.", 2, "Images 1 and 3"),
        ("What do the two photographs share?", 1, "the two photographs"),
        ("Both pictures show snow.", 1, "Both pictures"),
        ("The other photo is darker.", 1, "The other photo"),
    ],
)
def test_a_picture_beyond_those_of_the_dialogue_is_named(text, n_pictures, named):
    assert missing_picture(text, n_pictures) == named
    assert missing_picture(text, 0) is None


@pytest.mark.parametrize(
    "text",
    [
        "In this picture two men walk, and in the picture 3 people stand.",
        "In picture 3 people are painted, if one counts the child.",
        "It was her second picture, and Murnau's third picture followed.",
        "The third picture that he painted hangs in Delft.",
        "The second photograph on the left wall shows a ship.",
        "What does the fourth picture of the series tell?",
        "The label says 'Picture 7'.",
        "Photo 51 made the structure known.",
        "It is one of the first photographs of a storm.",
        "The other painting in the room is smaller.",
        "A photo 2 metres wide hangs there; the picture 20% darker.",
    ],
)
def test_what_is_named_otherwise_is_another_picture(text: str) -> None:
    assert missing_picture(text, 1) is None


@given(st.integers(1, len(ORDINALS)), st.integers(1, MOST_NAMED))
def test_a_picture_is_missing_exactly_if_there_are_fewer(place: int, n_pictures: int) -> None:
    for text in (f"The {ORDINALS[place - 1]} picture is red.", f"See image {place}."):
        assert (missing_picture(text, n_pictures) is not None) == (place > n_pictures)


def test_it_is_talk_of_what_no_reader_is_shown_in_either_text() -> None:
    texts = [
        ("What does the third picture show?", "It shows a mill in the snow."),
        ("What is the sky like?", "It is as grey as in the other picture."),
    ]
    pairs = [QuestionAnswerPair("d", str(n), n, *pair) for n, pair in enumerate(texts, 1)]

    def material(n_pictures: int) -> list[str | None]:
        found = by_rules([DialogueContent("d", pairs, [], n_pictures)], RuleLimits())
        return [each["material"] for each in found.values()]

    assert material(1) == ["question: third picture", "answer: the other picture"]
    assert material(3) == [None, None]
