"""Which pages serve which task type: by keywords and by categories.

AlignMMBench collects its images by keywords chosen for each task (appendix A.6.1). What belongs here:
what it means that a page speaks of something.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

# Scripts that put no space between words; there a keyword may stand anywhere.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W_{_UNSPACED}]"


@dataclass(frozen=True)
class Topic:
    """A page belongs if a text of it has one of the keywords, or it stands in one of the categories.

    Neither heeds upper and lower case; a keyword is a whole word or several, a category its name.
    """

    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(name.strip() for name in (*self.keywords, *self.categories)):
            raise ValueError("an empty keyword would take every page: remove it")


def topics_of(
    topics: Mapping[str, Topic], texts: Iterable[str | None], categories: Sequence[str]
) -> list[str]:
    """Names of the topics a page belongs to, in their order; texts are title, sections, captions."""
    # Between texts stands what no keyword runs across.
    whole = "\0".join(text for text in texts if text)
    names = {name.casefold() for name in categories}
    return [
        name
        for name, topic in topics.items()
        if any(_pattern(keyword).search(whole) for keyword in topic.keywords)
        or any(category.casefold() in names for category in topic.categories)
    ]


@cache
def _pattern(keyword: str) -> re.Pattern[str]:
    # Between its words may be any blank, a line break too.
    words = r"\s+".join(re.escape(word) for word in keyword.split())
    return re.compile(rf"(?<!{_LETTER}){words}(?!{_LETTER})", re.IGNORECASE)
