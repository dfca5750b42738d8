"""MMDU's judge: six dimensions and an overall score, 1 to 10 (MMDU, 2.3 and Figure 12).

What belongs here: the dimensions, and strict parsing of the judge's dictionary. The released scorer
uses eval() and accepts a dictionary with missing keys; here it is parsed as a literal, and an
incomplete one is an error.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from methods.evaluation.grades import HIGHEST, LOWEST, read_grade
from methods.json_text import from_json
from methods.prompts.parsing import ParseError, json_object, object_schema

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
"""The explanation is first, so that the scores are generated after it."""
MAX_DICTIONARY_CHARACTERS = 3000
"""Seven scores take about 150 characters; parsing a longer literal would cost too much."""
_DICTIONARY = re.compile(r"\{[^{}]*\}", re.DOTALL)


@dataclass(frozen=True)
class Grades:
    """The judge's scores, 1 to 10 for all seven dimensions, and its explanation."""

    scores: dict[str, int]
    explanation: str


def parse_grades(reply: str) -> Grades:
    """Grades in a judge's reply, from its last dictionary: the prompt asks the judge to end with it.

    The text before the dictionary is the explanation. A reply that is one JSON object (`GRADES_SCHEMA`)
    has the explanation inside. Keys match case-insensitively; keys that are not dimensions are ignored.
    Raises ParseError: `no_dictionary`, `missing_score`, `not_an_integer` or `out_of_range`.
    """
    whole = json_object(reply)
    if whole is not None:
        explanation = whole.get(EXPLANATION)
        return Grades(_scores(whole), explanation.strip() if isinstance(explanation, str) else "")
    matches = list(_DICTIONARY.finditer(reply))
    if not matches:
        raise ParseError("no_dictionary", "The judge's reply has no dictionary of scores.")
    scores = _scores(_literal(matches[-1].group()))
    return Grades(scores, reply[: matches[-1].start()].strip())


def _scores(dictionary: Mapping[Any, object]) -> dict[str, int]:
    given = {str(key).strip().lower(): value for key, value in dictionary.items()}
    scores = {}
    for dimension in DIMENSIONS:
        if dimension.lower() not in given:
            raise ParseError("missing_score", f"The judge gave no score for {dimension}.")
        scores[dimension] = read_grade(given[dimension.lower()], dimension)
    return scores


def _literal(text: str) -> dict[object, object]:
    for parse in (from_json, ast.literal_eval) if len(text) <= MAX_DICTIONARY_CHARACTERS else ():
        try:
            value = parse(text)
        # TypeError: a list as a key.
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    raise ParseError("no_dictionary", "What looks like the judge's dictionary cannot be read.")
