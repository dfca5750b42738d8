"""Reading numbered blocks out of a model's reply.

What belongs here: the typed error of a reply that cannot be read, and the reading of numbered
questions and answers. A reply is data: it is searched and parsed, never evaluated.
"""

import re


class ParseError(ValueError):
    """A reply that cannot be read; `reason` is a short code to count by, `detail` a sentence."""

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def parse_numbered(text: str, letter: str, expected: int) -> list[str]:
    """The texts behind `Q1:`, `Q2:` … (or `**A1**:` …, by `letter`), in order of their numbers.

    Each must be there once and hold something, 1 to `expected`; a text runs to the next number.
    Raises ParseError otherwise: a shifted answer is worse than none.
    """
    label = re.compile(rf"^[ \t]*(?:\*\*)?{letter}(\d+)(?:\*\*)?[:.)](?:\*\*)?[ \t]*", re.MULTILINE)
    matches = list(label.finditer(text))
    # Nine digits are wrong enough: int() refuses thousands of them with an error of its own.
    numbers = [int(match.group(1)[:9]) for match in matches]
    if numbers != list(range(1, expected + 1)):
        raise ParseError(
            "wrong_numbering",
            f"Expected {letter}1 to {letter}{expected}, the reply has "
            f"{', '.join(f'{letter}{n}' for n in numbers) or 'none'}.",
        )
    ends = [match.start() for match in matches[1:]] + [len(text)]
    blocks = [text[match.end() : end].strip() for match, end in zip(matches, ends, strict=True)]
    if not all(blocks):
        raise ParseError("empty_block", f"{letter}{blocks.index('') + 1} is empty.")
    return blocks
