"""The length of a text in words, counted alike wherever the project counts words, and its script."""

import re

_CHARACTER = (
    r"\u3005-\u3007\u3021-\u3029\u3038-\u303b"  # 々, 〇 and numerals
    r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
)
_PUNCTUATION = (
    r"\u3000-\u3004\u3008-\u3020\u3030\u30fb\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_RUN = re.compile(rf"[{_CHARACTER}]|[^\s{_CHARACTER}{_PUNCTUATION}]+")


def n_words(text: str) -> int:
    """How many words a text has: what stands between spaces, each Chinese or Japanese character one.

    Chinese and Japanese are written without spaces, so that a whole sentence would be one word. To
    find their words takes a dictionary, and two dictionaries find different ones; characters count the
    same everywhere, and lengths of such texts are usually stated in them. Korean has spaces and is
    counted by them. Thai, Lao, Khmer and Burmese have none either, and a phrase of theirs is one word.

    A run without a letter or a digit (a dash, quotation marks, `=`) is no word; `<image-1>` is one.
    """
    return sum(any(map(str.isalnum, run)) for run in _RUN.findall(text))


def is_chinese(text: str) -> bool:
    """Whether a text has a Han character: it is asked about, judged and added to in Chinese."""
    return any("一" <= character <= "鿿" for character in text)
