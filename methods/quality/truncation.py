"""Texts that stop in the middle of a sentence.

What belongs here: telling how a text ends, by its last characters and word. Which replies were cut off
by a token limit the ledger says; texts that were taken out of one do not.
"""

import re

from methods.words import n_words

_CLOSING = " \t\n\"'”’»)]}】」』》）*_`|"
_UNFINISHED = ",;:，、；：-–—([{（【「《/&+=<“‘«"
_UNMARKED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer end a sentence without a mark."""
_ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)]|#{1,6}|\|)\s*\S")
_DANGLING = re.compile(
    r"(?:^|\s)(?:the|an?|of|and|or|but|with|which|that|is|are|was|were|to|in|on|at|by|for|from|as|its"
    r"|their|his|her|this|these|both|while|because|such|than|into|very|also|a lot)\W*$",
    re.IGNORECASE,
)
FEWEST_WORDS = 12
"""A text of fewer words may be a phrase, such as "Red and blue", and needs no full stop."""
SHOWN = 60


def truncation_in(text: str) -> str | None:
    """The end of a text that stops in the middle of a sentence; None where it ends as texts do.

    A last line of a list, a heading or a table needs no full stop; nothing may end with a comma, an
    opening bracket, a word such as "the", or inside a fence.
    """
    whole = text.rstrip()
    end = whole[-SHOWN:]
    if whole.count("```") % 2:
        return end
    bare = whole.rstrip(_CLOSING)
    if not bare:
        return None
    if bare[-1] in _UNFINISHED or whole[-1] in "([{（【「《":
        return end
    if not bare[-1].isalnum() or _UNMARKED.match(bare[-1]):
        return None
    if _DANGLING.search(bare):
        return end
    last_line = whole.splitlines()[-1]
    if _ITEM.match(last_line) or n_words(whole) < FEWEST_WORDS:
        return None
    # A closing quotation mark or bracket may end a sentence: "… called 'Dawn'".
    return end if whole[-1].isalnum() else None
