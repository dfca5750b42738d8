"""Messages: text and images in the order they are given."""

import pytest

from methods.prompts.messages import IMAGE_HERE, Image, Text, interleave

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
