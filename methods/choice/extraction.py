"""The extractor: a model that says which choice an answer names where no rule reads it (MMBench, 4.1).

What belongs here: what it is told and how its reply is read. It sees the question, the choices and the
answer, never the images nor the right choice.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from methods.choice.lettered import LETTERS, NO_CHOICE, lettered
from methods.prompts.messages import IMAGE_HERE
from methods.prompts.parsing import ParseError

EXTRACT_PROMPT = "choice/extract"
_LETTER = re.compile(r"[\s\"'`*(\[]*([A-Za-z])[\s\"'`*)\].]*")


def extract_data(question: str, choices: Sequence[str], answer: str) -> Mapping[str, Any]:
    """What the prompt is filled with; `choices` in the order that they were asked in."""
    return {
        "question": question.replace(IMAGE_HERE, "(image)"),
        "choices": lettered(choices),
        "answer": answer,
    }


@cache
def letter_reader(n_choices: int) -> Callable[[str], str]:
    """Reads the reply to a question with `n_choices`: a letter of a choice, or Z.

    It raises ParseError for any other reply. The released scorers take a letter at random after three
    of them, or count an empty one as right; here the answer is then without a reading.
    """
    letters = LETTERS[:n_choices] + NO_CHOICE

    def read(reply: str) -> str:
        said = _LETTER.fullmatch(reply)
        if said is None or said[1].upper() not in letters:
            raise ParseError(
                "no_letter",
                f"The reply is not one letter of {', '.join(letters)} and nothing else.",
            )
        return said[1].upper()

    return read
