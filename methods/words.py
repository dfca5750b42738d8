"""Word counts of texts, the same in the whole project, and detection of Chinese text."""

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
    """Count the words of a text: runs between spaces, and each Chinese or Japanese character.

    Chinese and Japanese are written without spaces. Finding their words takes a dictionary, and
    different dictionaries find different words. So characters are counted, in which the lengths of such
    texts are usually stated. Korean has spaces. Thai, Lao, Khmer and Burmese have none, and a whole
    phrase counts as one word.

    A run without a letter or a digit (a dash, quotation marks, `=`) is no word; `<image-1>` is one.
    """
    return sum(any(map(str.isalnum, run)) for run in _RUN.findall(text))


def is_chinese(text: str) -> bool:
    """Check whether a text has a Han character, so that prompts and judges use Chinese for it."""
    return any("一" <= character <= "鿿" for character in text)
