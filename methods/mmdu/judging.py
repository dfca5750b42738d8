"""Parsing of MMDU's LLM judge: six dimensions and an overall score, 1 to 10 (MMDU, 2.3, Figure 12).

The authors' scorer parses replies with eval() and accepts a dictionary with missing keys. Here replies
are never evaluated as code, and an incomplete dictionary is an error.
"""

from dataclasses import dataclass

from methods.evaluation.grades import HIGHEST, LOWEST, last_of_equal, read_grade
from methods.prompts.parsing import ParseError, object_schema
from methods.prompts.placeholders import required_explanation
from methods.prompts.reply_objects import objects_in

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


@dataclass(frozen=True)
class Grades:
    """The judge's scores, 1 to 10 for all seven dimensions, and its explanation."""

    scores: dict[str, int]
    explanation: str


def parse_grades(reply: str) -> Grades:
    """Parse the grades of a judge's reply, from its last dictionary with all seven scores.

    If the reply has several such dictionaries, their scores must be equal. If the dictionary has no
    explanation, the text before it, or else after it, is the explanation. Case and punctuation of keys
    are ignored, and so are keys that are not dimensions. Raises ParseError with the reason
    `no_dictionary`, `missing_score`, `not_an_integer`, `out_of_range`, `two_ratings`, `no_explanation`
    or `placeholder`.
    """
    objects = objects_in(reply, DIMENSIONS, (EXPLANATION,))
    scored = [each for each in objects if any(name in each.values for name in DIMENSIONS)]
    if not scored:
        raise ParseError("no_dictionary", "The judge's reply has no dictionary of scores.")
    whole = [each for each in scored if all(name in each.values for name in DIMENSIONS)] or scored
    scores = last_of_equal([each.values for each in whole], _scores)
    return Grades(scores, required_explanation(whole[-1].text_or_around(EXPLANATION)))


def _scores(values: object) -> dict[str, int]:
    assert isinstance(values, dict)
    for dimension in DIMENSIONS:
        if dimension not in values:
            raise ParseError("missing_score", f"The judge gave no score for {dimension}.")
    return {dimension: read_grade(values[dimension], dimension) for dimension in DIMENSIONS}
