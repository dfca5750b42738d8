"""Identity by content: one text form, one hash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.ids import ID_LENGTH, canonical_json, content_id

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def test_an_id_is_a_hash_of_one_text_form_of_parts_that_are_kept_apart():
    assert canonical_json({"b": [1, None, True], "a": "é"}) == '{"a":"é","b":[1,null,true]}'
    # An id is the first twenty hex digits of the sha256 of its parts.
    # printf '["a",1]' | sha256sum: 135f17a475a61afdeeaf 3759ad2e...
    assert content_id("a", 1) == "135f17a475a61afdeeaf"
    assert ID_LENGTH == 20
    # Parts are kept apart.
    ids = [content_id("ab"), content_id("a", "b"), content_id(["a", "b"]), content_id("b", "a")]
    assert len(set(ids)) == 4


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_say_has_no_text_form(number):
    with pytest.raises(ValueError):
        canonical_json([number])


@given(st.dictionaries(TEXT, JSON, min_size=2, max_size=4))
def test_the_order_of_keys_is_no_part_of_a_thing(thing):
    assert content_id(thing) == content_id(dict(reversed(thing.items())))
