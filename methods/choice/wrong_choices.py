"""Wrong choices that a model wrote: made plain, and refused where they are none.

What belongs here: what holds for the choices of every benchmark of this form. What a reply has beside
them is read by the benchmark.
"""

import re
from collections import Counter
from collections.abc import Sequence

from methods.prompts.parsing import ParseError

_BLANK = re.compile(r"[\s\x00-\x1f\x7f]+")
_MARK = re.compile(r"(?:\(([A-Ha-h1-8])\)|([A-Ha-h1-8])[.):])\s+(?=\S)")


def one_line(text: str) -> str:
    """The text on one line, without what cannot be seen."""
    return _BLANK.sub(" ", text).strip()


def without_marks(choices: list[str]) -> list[str]:
    """The choices without `A. ` or `(1) ` before each; as they are where not all have one.

    Raises ParseError (`lettered_choice`) where only some have a letter.
    """
    marks = [_MARK.match(choice) for choice in choices]
    named = [mark[1] or mark[2] for mark in marks if mark]
    if len(set(named)) == len(choices):
        return [choice[mark.end() :] for choice, mark in zip(choices, marks, strict=True) if mark]
    if any(name.isalpha() for name in named):
        raise ParseError(
            "lettered_choice",
            "Choices begin with a letter such as 'A.': write them without letters.",
        )
    return choices


def require_wrong(answer: str, wrong: Sequence[str], fewest: int, most: int, demand: str) -> None:
    """Raise ParseError unless there are `fewest` to `most` wrong choices, all different, none of them
    empty and none the right one; `demand` is that in words."""
    if len(wrong) < fewest:
        has = f"are {len(wrong)} distractors" if wrong else "is no distractor"
        raise ParseError("too_few_choices", f"There {has}: write {demand}.")
    if len(wrong) > most:
        raise ParseError("too_many_choices", f"There are {len(wrong)} distractors: write {demand}.")
    if not all((answer, *wrong)):
        raise ParseError("empty_choice", "The answer or a distractor is empty.")
    said_wrong = [said(choice) for choice in wrong]
    if said(answer) in said_wrong:
        raise ParseError("answer_among_distractors", "The right answer is among the distractors.")
    if len(set(said_wrong)) < len(said_wrong):
        twice, _ = Counter(said_wrong).most_common(1)[0]
        raise ParseError("repeated_choice", f"A distractor is there twice: {twice[:80]!r}.")


def said(choice: str) -> str:
    """A choice without what makes no other choice of it: case, articles, closing punctuation."""
    plain = choice.casefold().strip(" .,;:!?'\"")
    return re.sub(r"^(?:a|an|the) ", "", plain)
