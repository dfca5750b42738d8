"""Words that texts are found by."""

import pytest

from methods.search_words import words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The owl’s 2nd nest, re-built.", {"the", "owl", "s", "2nd", "nest", "re", "built"}),
        ("ÉCOLE Ｆｕｌｌ ﬁn", {"école", "full", "fin"}),
        ("红苹果 and りんご", {"红", "苹", "果", "and", "り", "ん", "ご"}),
        ("abc红def", {"abc", "红", "def"}),
        # A vowel sign is a part of its word.
        ("हिन्दी भाषा", {"हिन्दी", "भाषा"}),
        ("snake_case", {"snake", "case"}),
        ("x" * 50, {"x" * 40}),
        ("<b>!?</b>", {"b"}),
        ("", set()),
    ],
)
def test_words(text: str, words: set[str]) -> None:
    assert words_of(text) == words
