"""Parsing of MMDU's LLM judge: six dimensions and an overall score, 1 to 10 (MMDU, 2.3, Figure 12).

The authors' scorer parses replies with eval() and accepts a dictionary with missing keys. Here replies
are never evaluated as code, and an incomplete dictionary is an error.
"""

from methods.evaluation.grades import HIGHEST, LOWEST, last_of_equal, require_same_in_text
from methods.evaluation.judging import Judgment
from methods.prompts.parsing import ParseError, object_schema
from methods.prompts.placeholders import required_explanation
from methods.prompts.reply_objects import labelled, objects_in, text_outside

OVERALL = "Overall Score"
DIMENSIONS = (
    "Creativity",
    "Richness",
    "Visual Perception",
    "Logical Coherence",
    "Answer Accuracy",
    "Image Relationship Understanding",
    OVERALL,
)
EXPLANATION = "Explanation"
GRADES_SCHEMA = object_schema(
    {EXPLANATION: {"type": "string"}}
    | {
        dimension: {"type": "integer", "enum": list(range(LOWEST, HIGHEST + 1))}
        for dimension in DIMENSIONS
    }
)
"""JSON schema of a reply. The explanation is first, so that the scores are generated after it."""


def read_judgment(reply: str) -> Judgment:
    """Parse a judge's reply: its last dictionary with all seven scores. The overall one is the turn's.

    A dictionary counts at the beginning or the end of the reply. One with prose before and after it is
    a quotation and is refused. Other scores of the reply must be equal, in any dictionary and in the
    text, too. If the dictionary has no explanation, the text before it, or else after it, is the one.
    Case and punctuation of keys are ignored, and so are keys that are not dimensions. Raises ParseError
    with the reason `no_dictionary`, `missing_score`, `not_an_integer`, `out_of_range`, `two_ratings`,
    `quoted_object`, `no_explanation` or `placeholder`.
    """
    objects = objects_in(reply, DIMENSIONS, (EXPLANATION,))
    scored = [each for each in objects if any(name in each.values for name in DIMENSIONS)]
    if not scored:
        raise ParseError("no_dictionary", "The judge's reply has no dictionary of scores.")
    whole = [each for each in scored if all(name in each.values for name in DIMENSIONS)] or scored
    last = whole[-1]
    if missing := [name for name in DIMENSIONS if name not in last.values]:
        raise ParseError("missing_score", f"The judge gave no score for {missing[0]}.")
    scores = {
        name: last_of_equal(
            [each.values[name] for each in (*scored, last) if name in each.values], name
        )
        for name in DIMENSIONS
    }
    text = text_outside(objects)
    for name, score in scores.items():
        require_same_in_text(score, labelled(text, name, anywhere=True), name)
    explanation = required_explanation(last.text_or_around(EXPLANATION))
    return Judgment(scores, scores[OVERALL], explanation)
