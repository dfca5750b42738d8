"""Texts that end without a full stop: those that are whole, and those that were cut."""

import pytest

from methods.quality.truncation import truncation_in


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The lamp in <image-1> is switched on"),
        ("en", "The door is taller than he is"),
        ("en", "It no longer looks like what it was"),
        ("en", "The window can be seen through"),
        ("en", "He knows how"),
        ("en", "The second arrow points to A"),
        ("de", "Die Tür steht auf"),
        ("de", "Der Mann steigt ein"),
        ("fr", "Il n'en reste qu'un"),
        ("es", "Solo queda una"),
        ("es", "La grieta tiene forma de Y"),
        ("it", "La freccia indica la lettera A"),
        ("pt", "Só há um"),
        ("nl", "De lamp in de hal staat aan"),
        ("sv", "Lampan är på"),
        ("pl", "Nie wiadomo, jaka jest"),
        ("tr", "Bir kuş gibi"),
        ("ru", "Это буква И"),
    ],
)
def test_a_word_that_may_end_a_sentence_ends_it(language: str, text: str) -> None:
    assert truncation_in(text, language) is None


@pytest.mark.parametrize(
    "text",
    [
        "The line that has the error is `x = y + 1;`",
        "The line that has the error is x = y + 1;",
        "The function ends with { return x; }",
        "Both cats look at the camera :)",
        "Both cats smile ;-)",
        "The address on the sign is https://example.org/",
        "The sign in the lower left corner of the wall below the lamps has www.example.org",
    ],
)
def test_code_faces_and_addresses_are_ends(text: str) -> None:
    assert truncation_in(text) is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The pier is made of"),
        ("en", "It is red and"),
        ("en", "The boats are tied up because"),
        ("en", "The boats, which"),
        ("en", "The sky is grey, with"),
        ("en", "The first of them (on the left"),
        ("en", "It shows two things: the mill;"),
        ("en", "The address is https://"),
        ("de", "Das Bild zeigt eine Mühle und"),
        ("fr", "Les bateaux sont dans un"),
        ("es", "La casa es de"),
        ("it", "La casa della"),
        ("pt", "O barco do"),
        ("nl", "De man staat naast de"),
        ("sv", "Huset och"),
        ("pl", "Dom oraz"),
        ("tr", "Ev ve"),
        ("ru", "Вид на мельницу и"),
    ],
)
def test_a_word_or_a_bracket_that_something_follows_does_not(language: str, text: str) -> None:
    assert truncation_in(text, language) is not None
