"""One rating from 1 to 10 with its explanation, as JSON (AlignMMBench, 4.1 and A.8).

The released scorer turns a quoted rating, a decimal or keys in the other order into -1, accepts 95 as a
rating, and excludes rows with -1 from the mean. Here one rule parses a reply or raises a parse error,
which is repaired by asking again.
"""

from methods.evaluation.grades import HIGHEST, LOWEST, last_of_equal, require_same_in_text
from methods.evaluation.judging import Judgment
from methods.model_text import without_reasoning
from methods.prompts.parsing import ParseError, object_schema
from methods.prompts.placeholders import required_explanation
from methods.prompts.reply_objects import labelled, labelled_text, objects_in, text_outside

RATING = "Rating"
REASON = "Reason"
RATING_SCHEMA = object_schema(
    {
        REASON: {"type": "string"},
        RATING: {"type": "integer", "enum": list(range(LOWEST, HIGHEST + 1))},
    }
)
"""The reason is first, so that the rating is generated after it."""


def read_rating(reply: str) -> Judgment:
    """Parse the rating in a judge's reply, with its reason.

    A JSON object with a rating counts at the beginning or the end of the reply, also a nested one. One
    with prose before and after it is a quotation and is refused. Without an object, `Rating: n` counts
    at the start of a line, outside quotation marks. All ratings in a reply must be the same. Keys are
    read in any case and order; 8, "8", 8.0 and ８ are 8. If the object has no reason, the text before
    it is the reason, or else the text after it. Raises ParseError: `no_rating`,
    `not_an_integer`, `out_of_range`, `two_ratings`, `quoted_object`, `no_explanation`, `placeholder`.
    """
    objects = objects_in(reply, (RATING,), (REASON,))
    rated = [found for found in objects if RATING in found.values]
    if not rated:
        text = without_reasoning(reply).answer
        return _judgment(labelled(text, RATING), labelled_text(text, REASON, RATING))
    reasoned = [found for found in rated if REASON in found.values] or rated
    ratings = [found.values[RATING] for found in (*rated, reasoned[-1])]
    judgment = _judgment(ratings, reasoned[-1].text_or_around(REASON))
    in_text = labelled(text_outside(objects), RATING, anywhere=True)
    require_same_in_text(judgment.scores[RATING], in_text, "The rating")
    return judgment


def _judgment(ratings: list[object], reason: str) -> Judgment:
    if not ratings:
        raise ParseError("no_rating", f'The reply has no "{RATING}".')
    value = last_of_equal(ratings, "The rating")
    return Judgment({RATING: value}, value, required_explanation(reason))
