"""Messages: text and images in their order, and the language of replies."""

import pytest

from methods.prompts.messages import IMAGE_HERE, Image, Message, Text, interleave
from methods.prompts.reply_language import with_reply_language
from methods.wikimedia.languages import language_name

TWO = "Image1: <ImageHere>, Image2: <ImageHere>. What is in <image-2>?"
INEXACT = "<imagehere> <ImageHere > <image-1>"


@pytest.mark.parametrize(
    ("text", "images", "parts"),
    [
        (
            TWO,
            "ab",
            [
                *(Text("Image1: "), Image("a"), Text(", Image2: "), Image("b")),
                Text(". What is in <image-2>?"),
            ],
        ),
        ("<ImageHere><ImageHere>", "ab", [Image("a"), Image("b")]),
        # Only the exact token is a place.
        (INEXACT, "", [Text(INEXACT)]),
    ],
)
def test_images_enter_where_the_text_says_and_nothing_is_lost_between(text, images, parts):
    assert interleave(text, [*images]) == tuple(parts)


@pytest.mark.parametrize(
    ("text", "images"), [("<ImageHere>", []), ("none", ["a"]), ("<ImageHere>", ["a", "b"])]
)
def test_an_image_without_a_place_or_a_place_without_an_image_is_an_error(text, images):
    with pytest.raises(
        ValueError, match=f"{text.count(IMAGE_HERE)} placeholders.* {len(images)} images"
    ):
        interleave(text, images)


def test_the_first_message_ends_with_the_instruction_and_the_others_stay() -> None:
    user = Message("user", (Text("What is it?"), Image("a" * 64)))
    system, same = with_reply_language([Message.from_text("system", "You ask."), user], "Japanese")
    assert same == user
    text = "".join(part.text for part in system.parts if isinstance(part, Text))
    assert text.startswith("You ask.\n\nWrite all texts of your reply in Japanese. ")


def test_a_language_has_its_english_name_or_its_code() -> None:
    expected = {
        "ja": "Japanese",
        "zh": "Chinese",
        "simple": "Simple English",
        "azb": "South Azerbaijani",
        "tlh": "the language of the Wikipedia with the code 'tlh'",
    }
    assert {code: language_name(code) for code in expected} == expected
