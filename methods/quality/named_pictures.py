"""Detects texts that refer to a missing image of the dialogue, such as "the third picture" of two."""

import re

from methods.choice.translation_checks import CARDINALS, ORDINALS
from methods.prompts.messages import IMAGE_NAME
from methods.quality.quotations import without_quotations

_NUMBER = {"one": 1, **{word: n for word, n in CARDINALS.items() if n < len(ORDINALS)}}
_PLACE = {word: place for place, word in enumerate(ORDINALS, start=1)}
_WHOSE = r"(?:he|she|they|we|i|you|it|his|her|their|who|which|that|ever|taken|painted|made|drawn)"
_OUTSIDE = (
    r"(?:series|triptych|diptych|cycle|set|sequence|album|book|comic|strip|page|wall|shelf|row|room|paper"
    r"|article|magazine|newspaper|exhibition|museum|gallery|collage|panel|poster|screen)"
)
_OF_ELSEWHERE = (
    rf"(?!\s+{_WHOSE}\b)(?!\s+(?:of|on|in|from|at)\s+(?:[\w'’]+\s+){{1,3}}?{_OUTSIDE}\b)"
)
"""Excludes pictures that are not images of the dialogue, by the words after them: "the third picture
that he painted", "the second photograph on the left wall"."""
_IS_PICTURE = r"(?:images?|pictures?|photos?|photographs?|pics?)"
_GOES_ON = (
    r"(?=['’]s\b|\s*(?:[?.!,:;)\]]|\Z)|\s+(?:is|was|shows?|has|had|have|depicts?|presents?|looks?|seems?"
    r"|appears?|differs?|that|it|in|on|from|with|to|than|as|and|or|the|a|an|he|she|they|there|we|you|what"
    r"|who|does|do|did|can|could|hold|holds|wear|wears)\b)"
)
"""Words or marks that may follow the number of an image. "In the picture 3 people stand" has no number
of an image."""
_AND = r"(?:\s*(?:,|and|&|or|to)\s*)"
_NAMED = re.compile(
    rf"\b(?P<ordinal>{'|'.join(ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th))\s+{_IS_PICTURE}\b{_OF_ELSEWHERE}"
    rf"|(?<!\bthe )(?<!\bthis )(?<!\bthat )(?<!\ba )(?<!\beach )(?<!\bevery )\b{_IS_PICTURE}"
    rf"[\s_-]*(?:\#|no\.?\s|number\s)?\s*(?:\d{{1,2}}{_AND})*(?P<number>\d{{1,2}}|{'|'.join(_NUMBER)})"
    rf"\b{_GOES_ON}{_OF_ELSEWHERE}"
    rf"|\b(?:the|these|those|both|all)\s+(?P<many>{'|'.join(_NUMBER)}|[2-9])\s+{_IS_PICTURE}\b{_OF_ELSEWHERE}"
    rf"|\b(?P<other>(?:the|that|this|your)\s+other)\s+{_IS_PICTURE}\b{_OF_ELSEWHERE}"
    rf"|\b(?P<both>both)\s+(?:of\s+the(?:se)?\s+)?{_IS_PICTURE}\b{_OF_ELSEWHERE}",
    re.IGNORECASE,
)
_NOT_SHOWN = re.compile(r"\b(?:his|her|their|its|my|our|your|['’]s)\s+\W*$", re.IGNORECASE)
"""Possessives before a picture that is not an image of the dialogue: "her second picture"."""
_LONGEST_POSSESSIVE = 20
_TAG = re.compile(IMAGE_NAME)
_FEWEST = {"other": 2, "both": 2}
MOST_NAMED = 30
"""Larger numbers are ignored, as parts of a title: "Photo 51"."""


def missing_picture(text: str, n_pictures: int) -> str | None:
    """Find words that refer to an image which the dialogue does not have.

    These are tags, ordinals and numbers greater than the number of images, counts of more images than
    there are, and "the other picture" if there is only one. Quotations, possessives ("his second
    picture") and parts ("the third photograph on the wall") are ignored.

    Args:
        text: The text.
        n_pictures: The number of images; 0 for unknown: nothing is checked.

    Returns:
        The words; None if there are none.
    """
    if n_pictures < 1:
        return None
    for tag in _TAG.finditer(text):
        if not 1 <= int(tag[1][:9]) <= n_pictures:
            return tag[0]
    own_words = without_quotations(text)
    for match in _NAMED.finditer(own_words):
        begin = match.start()
        if n_pictures < _needs(match) <= MOST_NAMED and not _NOT_SHOWN.search(
            own_words, max(0, begin - _LONGEST_POSSESSIVE), begin
        ):
            return match[0]
    return None


def _needs(match: re.Match[str]) -> int:
    """The least number of images for which the matched words are right."""
    kind = str(match.lastgroup)
    word = match[kind].casefold()
    if kind in _FEWEST:
        return _FEWEST[kind]
    if kind == "ordinal":
        return _PLACE.get(word) or int(re.sub(r"\D", "", word))
    return _NUMBER.get(word) or int(word)
