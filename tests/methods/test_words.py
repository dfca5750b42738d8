"""Words of texts in one script and in several, counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.words import n_words


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0),
        ("  Two\n words ", 2),
        ("It's <image-1>.", 2),
        ("well-known e.g. 3.5", 3),
        ("图中有什么？", 5),
        ("他说：“你好！”", 4),
        ("这是 Paris 吗", 4),
        ("GPT的answer是A。", 5),
        ("ねこ と イヌ", 5),
        ("データ・ベース", 6),
        ("ﾃﾞｰﾀ", 4),
        ("人々は2台のカメラを", 10),
        ("무엇이 다릅니까", 2),
        ("두 개의 图片 есть", 5),
        ("ＡＢＣ １２３", 2),
        ("𠀀𠀁", 2),
    ],
)
def test_words_stand_between_spaces_and_a_chinese_or_japanese_character_is_one(text, n):
    assert n_words(text) == n


@given(st.text(), st.text())
def test_the_words_of_two_lines_are_those_of_each(first: str, second: str) -> None:
    assert n_words(f"{first}\n{second}") == n_words(first) + n_words(second)
