"""One rating from 1 to 10 and its reason, as JSON (AlignMMBench, 4.1 and A.8).

What belongs here: reading the judge's reply. The released scorer turns a quoted rating, a decimal or
keys in the other order into -1, takes 95 for a rating, and leaves rows with -1 out of the mean. Here a
reply is read by one rule or refused with a reason, and what is refused is asked again.
"""

import re

from methods.evaluation.grades import HIGHEST, LOWEST, read_grade
from methods.evaluation.judging import Judgment
from methods.prompts.parsing import ParseError, object_schema, objects_in, without_thinking

RATING = "Rating"
REASON = "Reason"
RATING_SCHEMA = object_schema(
    {
        REASON: {"type": "string"},
        RATING: {"type": "integer", "enum": list(range(LOWEST, HIGHEST + 1))},
    }
)
"""The reason is first, so that the rating is generated after it."""
MOST_CHARACTERS = 20_000
"""A longer reply is no rating with its reason."""
_QUOTE = "[\"'“”]?"
_PAIR = re.compile(
    rf"{_QUOTE}\brating\b{_QUOTE}\s*[:：]\s*{_QUOTE}\s*([^\s\"'“”,，}}]+)", re.IGNORECASE
)
_REASON = re.compile(
    rf"\breason\b{_QUOTE}\s*[:：]\s*{_QUOTE}(.*?){_QUOTE}\s*(?:,\s*{_QUOTE}rating\b.*)?\}}?\s*(?:```)?\s*$",
    re.IGNORECASE | re.DOTALL,
)


def read_rating(reply: str) -> Judgment:
    """The rating in a judge's reply, with its reason.

    The last JSON object that has a rating counts, wherever it stands: after reasoning, in a fence,
    before a remark. Keys are read in any case and order; 8, "8", 8.0 and ８ are 8. Where no object can
    be parsed (a quote inside the reason, an object that was cut off after its rating) the one pair
    `Rating: n` of the reply counts; two pairs that differ are refused. Without a reason it is
    empty. Raises ParseError: `no_rating`, `not_an_integer`, `out_of_range`, `two_ratings`.
    """
    text = without_thinking(reply[:MOST_CHARACTERS])
    given = [answer for answer in objects_in(text) if RATING.lower() in answer]
    if given:
        last = given[-1]
        reason = last.get(REASON.lower())
        return _judgment(last[RATING.lower()], reason if isinstance(reason, str) else "")
    pairs = [match[1] for match in _PAIR.finditer(text)]
    if not pairs:
        raise ParseError("no_rating", f'The reply has no "{RATING}".')
    ratings = {_grade(pair) for pair in pairs}
    if len(ratings) > 1:
        raise ParseError("two_ratings", f"The reply has the ratings {', '.join(pairs[:5])}.")
    reason = _REASON.search(text)
    return _judgment(pairs[0], reason[1] if reason else "")


def _judgment(rating: object, reason: str) -> Judgment:
    value = _grade(rating)
    return Judgment({RATING: value}, value, reason.strip())


def _grade(value: object) -> int:
    return read_grade(value, "The rating")
