"""Identity by content: one text form, one hash, one bucket."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.ids import ID_LENGTH, bucket_of, canonical_json, content_id

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
IDS = st.lists(JSON, max_size=3).map(lambda parts: content_id(*parts))


def test_the_one_text_form_has_sorted_keys_no_spaces_and_plain_unicode():
    assert canonical_json({"b": [1, None, True], "a": "é"}) == '{"a":"é","b":[1,null,true]}'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_say_has_no_text_form(number):
    with pytest.raises(ValueError):
        canonical_json([number])


def test_an_id_is_the_first_twenty_hex_digits_of_the_sha256_of_its_parts():
    # printf '["a",1]' | sha256sum: 135f17a475a61afdeeaf 3759ad2e...
    assert content_id("a", 1) == "135f17a475a61afdeeaf"
    assert ID_LENGTH == 20


def test_parts_are_kept_apart():
    ids = [content_id("ab"), content_id("a", "b"), content_id(["a", "b"]), content_id("b", "a")]
    assert len(set(ids)) == 4


@given(st.dictionaries(TEXT, JSON, min_size=2, max_size=4))
def test_the_order_of_keys_is_no_part_of_a_thing(thing):
    assert content_id(thing) == content_id(dict(reversed(thing.items())))


@given(JSON, JSON)
def test_two_things_share_an_id_only_when_they_share_their_text_form(one, other):
    same_form = canonical_json(one) == canonical_json(other)
    assert (content_id(one) == content_id(other)) == same_form


def test_a_bucket_is_the_first_eight_hex_digits_modulo_the_number_of_buckets():
    # 0x000000ff = 255 = 31 * 8 + 7; what follows the eighth digit has no say.
    assert bucket_of("000000ff" + "0" * 12, 8) == 7
    assert bucket_of("000000ff" + "f" * 12, 8) == 7


@given(IDS, st.integers(1, 1000))
def test_every_id_has_one_bucket_and_it_is_in_range(an_id, n_buckets):
    assert bucket_of(an_id, n_buckets) in range(n_buckets)
    assert bucket_of(an_id, n_buckets) == bucket_of(str(an_id), n_buckets)


def test_buckets_fill_evenly():
    # 8000 ids in 8 buckets: 1000 each, standard deviation sqrt(8000 * 1/8 * 7/8) = 30; 5 of them.
    sizes = [0] * 8
    for number in range(8000):
        sizes[bucket_of(content_id("row", number), 8)] += 1
    assert all(850 < size < 1150 for size in sizes), sizes


def test_the_id_is_that_of_any_process_not_of_this_one():
    # str hashes differ between processes, SHA-256 does not.
    expected = hashlib.sha256('["é"]'.encode()).hexdigest()[:20]
    assert content_id("é") == expected
