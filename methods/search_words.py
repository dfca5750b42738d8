"""Tokenization for the full-text search of the static site."""

import re
import unicodedata
from functools import cache

from methods.unicode_forms import in_form

MOST_CHARACTERS = 40
"""The number of characters of a word that are indexed."""
_ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Han, Hiragana and Katakana. Their texts have no spaces, so each character is a word."""


def words_of(text: str) -> set[str]:
    """Split a text into its words: runs of letters, marks and numbers after NFKC, in lower case."""
    words = _words().findall(in_form("NFKC", text).lower())
    return {word[:MOST_CHARACTERS] for word in words}


@cache
def _words() -> re.Pattern[str]:
    # `\w` lacks the combining marks with which Indic and Semitic scripts write vowels.
    marks = "".join(
        chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M"
    )
    return re.compile(f"[{_ALONE}]|(?:(?![{_ALONE}])[^\\W_]|[{marks}])+")
