"""Languages that questions are translated into."""

from collections.abc import Mapping
from dataclasses import dataclass

SOURCE_LANGUAGE = "en"
"""The language that items are written in."""


@dataclass(frozen=True)
class Language:
    """A target language: its code, its name in a prompt, and patterns that recognize its texts.

    `letters` is the content of a character class of its script; `verdicts` is a regular expression for
    words that call a choice right or wrong.
    """

    code: str
    name: str
    letters: str
    verdicts: str


LANGUAGES: Mapping[str, Language] = {
    language.code: language
    for language in (
        Language(
            "zh",
            "Simplified Chinese",
            "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
            "正确|错误|答案|对的|错的",
        ),
    )
}
"""The languages by code. The checks are for scripts without Latin letters. A new language needs an
entry here, a vocabulary of the mock model server, and words of the benchmark's instruction."""
