"""Topics of Wikipedia pages, one for each task type, found by keywords and categories.

AlignMMBench collects its images by keywords chosen for each task (appendix A.6.1).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

# Scripts without spaces between words. In these a keyword matches anywhere in a text.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W_{_UNSPACED}]"


@dataclass(frozen=True)
class Topic:
    """Keywords and categories of a topic. A page has the topic if one of its texts contains a keyword,
    or if it is in one of the categories.

    Case is ignored. A keyword is one or several whole words, a category is a whole name.
    """

    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(name.strip() for name in (*self.keywords, *self.categories)):
            raise ValueError("an empty keyword would match every page: remove it")


def topics_of(
    topics: Mapping[str, Topic], texts: Iterable[str | None], categories: Sequence[str]
) -> list[str]:
    """Find the topics of a page by keywords and categories.

    Args:
        topics: The topics by name.
        texts: The title, the sections and the captions.
        categories: The page's categories.

    Returns:
        The names of its topics, in the order of `topics`.
    """
    # The separator prevents that a keyword of several words matches across two texts.
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
    # Any whitespace may be between the words of a keyword, line breaks included.
    words = r"\s+".join(re.escape(word) for word in keyword.split())
    return re.compile(rf"(?<!{_LETTER}){words}(?!{_LETTER})", re.IGNORECASE)
