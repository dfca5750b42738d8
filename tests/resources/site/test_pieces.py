"""Pieces of data: what goes in comes out, and words find their items."""

from bisect import bisect_right
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from methods.search_words import words_of
from resources.site import pieces
from resources.site.pieces import ItemPieces, WordIndexPieces, compact_json, script_of
from tests.resources.site.reading import pieces_of, value_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
HOSTILE = "</script><script>alert(1)</script> '\\' \\u0027 \u2028 \u2029 \x00 \u202e ${1} `x`"


@given(st.dictionaries(TEXTS, TEXTS | st.integers() | st.none()), TEXTS)
@example({"__proto__": HOSTILE, "constructor": [HOSTILE]}, "items/0")
def test_a_value_is_read_as_it_was_written(value, name):
    assert value_of(script_of(name, compact_json(value))) == (name, value)


def test_a_number_that_json_has_not_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        compact_json([float("nan")])


def test_items_are_cut_at_a_size_and_each_file_says_its_first(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE_CHARACTERS", 40)
    items = ItemPieces(tmp_path)
    # 17 characters each, but for one that is larger than a file should be.
    texts = ["a" * 15, "b" * 15, "c" * 15, "d" * 100, "e"]
    for text in texts:
        items.add(text)
    items.close()
    assert items.firsts == [0, 2, 3, 4]
    assert pieces_of(tmp_path) == {
        "items/0": texts[:2],
        "items/1": texts[2:3],
        "items/2": texts[3:4],
        "items/3": texts[4:],
    }


@given(st.lists(st.lists(TEXTS, max_size=3), max_size=8))
def test_a_word_is_found_in_the_file_of_its_place_with_all_its_items(tmp_path_factory, items):
    folder, words = tmp_path_factory.mktemp("words"), WordIndexPieces()
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(pieces, "WORDS_CHARACTERS", 6)
        for number, texts in enumerate(items):
            words.add(number, [*texts, None])
        firsts = words.write(folder)
    files = pieces_of(folder)
    order = [first.encode("utf-16-be") for first in firsts]
    expected: dict[str, list[int]] = {}
    for number, texts in enumerate(items):
        for word in words_of("\n".join(texts)):
            expected.setdefault(word, []).append(number)
    found = {}
    for word in expected:
        place = bisect_right(order, word.encode("utf-16-be")) - 1
        found[word] = list(accumulate(files[f"words/{place}"][word]))
    assert found == expected
    assert sum(len(file) for file in files.values()) == len(expected)
