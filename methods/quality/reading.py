"""Parsing of replies of the models that check answers (LLM judge): a grade or lists for each answer."""

import re
from collections.abc import Mapping

from methods.prompts.parsing import JsonSchema, ParseError, object_schema
from methods.prompts.placeholders import require_no_placeholder
from methods.prompts.reply_objects import objects_in, reply_object
from methods.quality.outcome import CONTRADICTIONS, SENSITIVE, UNANSWERED

LOWEST, HIGHEST = 0, 10
MOST_LISTED, MOST_CHARACTERS = 10, 300
"""The most entries of a list that are kept, and the most characters of each entry."""
LISTS = (CONTRADICTIONS, SENSITIVE, UNANSWERED)
_SAYS_NOTHING = re.compile(
    r"""[\W_]*+(?:(?:none|nothing|nil|null|n/?a|keine?s?|nichts|aucune?|rien|ningun[oa]|nada|nessun[oa]
    |niente|nenhum[a]?|geen|无|沒有|没有|なし|ありません|없음|нет)(?:\s(?:found|here|listed|at\sall))?
    |(?:no|without)\s(?:contradictions?|sensitive|unsupported|unsafe|private|unanswered|issues?|problems?
    |findings?)\b[^.]{0,40})?[\W_]*+""",
    re.IGNORECASE | re.VERBOSE,
)
"""Entries that mean an empty list: "None.", "N/A", "No contradictions found"."""
_TEXTS: JsonSchema = {"type": "array", "items": {"type": "string"}}


def marks_schema(n: int) -> JsonSchema:
    """Make the JSON schema of `n` grades."""
    grade = {"type": "integer", "minimum": LOWEST, "maximum": HIGHEST}
    return object_schema({name: grade for name in _names(n)})


def lists_schema(n: int) -> JsonSchema:
    """Make the JSON schema of `n` lists of texts."""
    return object_schema(dict.fromkeys(_names(n), _TEXTS))


def reread_schema(n: int) -> JsonSchema:
    """Make the JSON schema of `n` answers with the lists of `LISTS`."""
    return object_schema(dict.fromkeys(_names(n), object_schema(dict.fromkeys(LISTS, _TEXTS))))


def read_marks(reply: str, n: int) -> list[int]:
    """Read the grades of answers A1 to An, in all complete JSON objects of a reply.

    Args:
        reply: The reply.
        n: The number of answers.

    Returns:
        The grades, 0 to 10.

    Raises:
        ParseError: An answer has no grade or two different ones, or a reason of `objects_in`.
    """
    objects = [each.values for each in objects_in(reply, _names(n), only_whole=True)]
    if not objects:
        raise ParseError("not_json", "The reply has no complete JSON object with grades.")
    marks = []
    for name in _names(n):
        written = [values[name] for values in objects if name in values]
        if not written:
            raise ParseError("wrong_numbering", f"The reply has nothing for {name}.")
        grade = written[0]
        # `type` instead of isinstance: in Python True is an int, but it is no grade.
        if type(grade) is not int or not LOWEST <= grade <= HIGHEST:
            raise ParseError("no_grade", f"{name} has no whole number from {LOWEST} to {HIGHEST}.")
        if any(other != grade for other in written):
            raise ParseError("two_grades", f"{name} has two different grades. State one.")
        marks.append(grade)
    return marks


def read_lists(reply: str, n: int) -> list[list[str]]:
    """Read a list of texts for each of the answers A1 to An.

    Args:
        reply: The reply.
        n: The number of answers.

    Returns:
        The lists.

    Raises:
        ParseError: An answer has no list.
    """
    return [_texts(answer, name) for name, answer in _of_answers(reply, n).items()]


def read_reread(reply: str, n: int) -> list[dict[str, list[str]]]:
    """Read the lists of `LISTS` for each of the answers A1 to An.

    Args:
        reply: The reply.
        n: The number of answers.

    Returns:
        The lists of each answer by name.

    Raises:
        ParseError: A list is missing.
    """
    answers = []
    for name, answer in _of_answers(reply, n).items():
        if not isinstance(answer, Mapping) or not set(LISTS) <= answer.keys():
            raise ParseError("no_lists", f"{name} does not have all of {', '.join(LISTS)}.")
        answers.append({kind: _texts(answer[kind], f"{kind} of {name}") for kind in LISTS})
    return answers


def _names(n: int) -> list[str]:
    return [f"A{number}" for number in range(1, n + 1)]


def _of_answers(reply: str, n: int) -> dict[str, object]:
    """The lists of each answer in a reply, in order. Raises ParseError if one is missing."""
    answers = reply_object(reply, lists_schema(n))
    if missing := [name for name in _names(n) if name not in answers]:
        raise ParseError("wrong_numbering", f"The reply has nothing for {missing[0]}.")
    return {name: answers[name] for name in _names(n)}


def _texts(value: object, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ParseError("no_list", f"{name} is not a list of texts.")
    texts = [text.strip()[:MOST_CHARACTERS] for text in value if not _SAYS_NOTHING.fullmatch(text)]
    for text in texts:
        require_no_placeholder(text, f"A text of {name}")
    return texts[:MOST_LISTED]
