"""Texts are normalized as Unicode says, also texts with long runs of combining marks."""

import unicodedata
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from methods.ingest.mirror_names import file_name, path_in_mirror
from methods.invisible_characters import visible_text
from methods.unicode_forms import in_form
from methods.web_address import is_web_address
from methods.wikimedia.addresses import file_title
from resources.review.credentials import folded_name
from resources.web.host_pauses import host_name
from review.security import local_path

forms = st.sampled_from(["NFC", "NFKC"])
# Letters with and without marks, Hangul in parts, marks of several classes and some that become marks.
characters = st.one_of(
    st.sampled_from("aé\u1f82カ가\u1100\u1161\u11a8\u0928\u09c7\u09be-\u00a8\u037a\ufdfa"),
    st.sampled_from(
        "\u0301\u0315\u0323\u0344\u0345\u035d\u3099\u093c\u0f71\u0f73\u0f81\uff9e\uff9f"
    ),
    st.characters(exclude_categories=()),
)
DESCENDING = "\u0345\u035d\u0315\u0301\u0323\u0f72\u0f71"
MANY = [
    *("a" + "".join(mark * 1_000 for mark in DESCENDING), "a" + DESCENDING * 1_000),
    *("a" + "\u0301\u0f73" * 3_000, "カ" + "\u0301\uff9e" * 3_000),
]
"""Texts with many marks in the wrong order."""
MOST_MOVES = 300
"""The number of moves per character that the library may need to sort the marks of a text."""


@pytest.fixture
def library(monkeypatch):
    """The library's function, which refuses texts that it would sort in more than `MOST_MOVES`."""
    normalize = unicodedata.normalize

    def refusing(form, text):
        parts = "".join(normalize(form.replace("C", "D"), character) for character in text)
        assert moves_of(parts) <= MOST_MOVES * len(text)
        return normalize(form, text)

    monkeypatch.setattr(unicodedata, "normalize", refusing)


def moves_of(text):
    """Count the moves of a sort by insertion, which sorts the marks in a row by their class."""
    moves, earlier = 0, Counter()
    for mark in map(unicodedata.combining, text):
        if mark == 0:
            earlier.clear()
        else:
            moves += sum(times for other, times in earlier.items() if other > mark)
            earlier[mark] += 1
    return moves


@given(forms, st.lists(st.tuples(characters, st.integers(1, 70)), max_size=30), st.booleans())
@example("NFC", [("カ", 1), ("\uff9e", 40), ("\u0345", 40), ("\u0323", 40), ("é", 500)], False)
def test_the_result_is_that_of_the_library(form, runs, mixed):
    parts = [character * times for character, times in runs]
    text = "".join(map("".join, zip(*parts, strict=False)) if mixed else parts)
    text *= 1 + 600 // max(1, len(text))
    assert in_form(form, text) == unicodedata.normalize(form, text)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("text", MANY, ids=range(len(MANY)))
def test_the_library_does_not_sort_many_marks(text):
    for shown in (in_form("NFC", text), in_form("NFKC", text), visible_text(text)):
        assert in_form("NFC", shown) == shown
    assert folded_name(text) == folded_name(in_form("NFC", text))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("text", MANY[:2], ids=range(2))
@pytest.mark.parametrize(
    "address", ["https://{}/x", "https:/\t/{}/x", "https://me:{}@example.org/x"]
)
def test_a_host_with_many_marks_is_refused(address, text):
    address = address.format(text)
    assert not is_web_address(address)
    assert host_name(address) == ""
    assert (file_name(address), path_in_mirror(address), file_title(address)) == (None, None, None)
    assert local_path(f"//{text}/x") == "/"


def test_a_long_path_and_a_long_password_are_parts_of_an_address():
    address = f"https://bücher.example/{'ü' * 300}"
    assert is_web_address(address) and host_name(address) == "bücher.example"
    assert is_web_address(f"https://me:{'x' * 300}@example.org/ü")
