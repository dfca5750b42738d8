"""Which names decisions may stand under, and which of them people would take for the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.review.credentials import AccountError, checked_name, folded_name

pytestmark = pytest.mark.files_alone


@pytest.mark.parametrize(
    "name",
    ["a", "Anne-Marie O'Neil", "r2d2", "张伟", "अनिता", "Zoë", "a.b_c@d", "Юрий", "x" * 40],
)
def test_a_name_may_be(name):
    assert checked_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "x" * 41, "policy:accept", "a:b", " bob", "bob ", "bob  lee", "-bob", "bob.", "<b>", "a/b"]
    + [
        "bob\n",
        "bob\x00",
        "b\u200bob",  # zero width space
        "bob\u202e",  # turns the text round
        "bob\ufe0f",  # a variation of a letter that has none
        "bob\U000e0100",  # the same, of a Chinese character
        "bob\U0001bc9d",  # a selector of shorthand, which shows nothing
        "\u3164",  # a letter that shows nothing
        "\ud800",
        "b\u043eb",  # a Cyrillic o
    ],
)
def test_a_name_may_not_be(name):
    with pytest.raises(AccountError, match="^A name .*[.]$"):
        checked_name(name)


def test_a_name_is_kept_in_form_nfc():
    assert checked_name("Zoe\u0308") == "Zo\u00eb"


@pytest.mark.parametrize(
    "one, other",
    [
        ("Alice", "aLICE"),
        ("Zo\u00eb", "ZOE\u0308"),
        ("bob", "\uff42\uff4f\uff42"),
        ("Strauß", "STRAUSS"),
    ],
)
def test_names_that_look_alike_are_one(one, other):
    assert folded_name(one) == folded_name(other)


@given(st.text(max_size=50))
def test_whatever_is_typed_a_name_is_safe_to_show_and_stays_what_it_is(typed):
    folded_name(typed).encode()
    try:
        name = checked_name(typed)
    except AccountError:
        return
    assert name.isprintable() and ":" not in name and len(name) <= 40
    assert checked_name(name) == name
    assert folded_name(folded_name(name)) == folded_name(name) == folded_name(typed)
