"""Dialogues without some of their turns stay whole."""

from methods.quality.filtering import without_turns


def turn(name: str, question: str, answer: str) -> dict[str, str]:
    return {"question_id": name, "question": question, "answer": answer}


TURNS = [
    turn("a", "Image1: <ImageHere>. What is <image-1>?", "A mill."),
    turn("b", "Image2: <ImageHere>. What is <image-2>?", "A boat."),
    turn("c", "Compare <image-1> and <image-2>.", "Both are red."),
    turn("d", "Image3: <ImageHere>. And <image-3>?", "A kite."),
]
IMAGES = ["m", "b", "k"]


def test_an_image_enters_with_the_next_turn_and_keeps_its_number() -> None:
    rest = without_turns(TURNS, IMAGES, {0})
    assert rest is not None
    assert [turn["question"] for turn in rest.turns] == [
        "Image1: <ImageHere>. Image2: <ImageHere>. What is <image-2>?",
        TURNS[2]["question"],
        TURNS[3]["question"],
    ]
    assert rest.image_ids == IMAGES
    assert rest.entering == {"b": "Image1: <ImageHere>. "}


def test_the_rest_is_the_same_dialogue_with_fewer_images_or_nothing():
    rest = without_turns(TURNS, IMAGES, set())
    assert rest is not None and (rest.turns, rest.image_ids, rest.entering) == (TURNS, IMAGES, {})
    # The last images go with the last turn.
    rest = without_turns(TURNS, IMAGES, {3})
    assert rest is not None and rest.image_ids == ["m", "b"]
    assert [turn["question_id"] for turn in rest.turns] == ["a", "b", "c"]
    # Nothing is left without a turn on several images.
    assert without_turns(TURNS, IMAGES, {2}) is None
    assert without_turns(TURNS, IMAGES, {0, 1, 2, 3}) is None
