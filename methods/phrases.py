"""Tables of phrases as one regular expression."""

import re
from collections.abc import Callable
from functools import cached_property


class Phrases:
    """Finds any phrase of a table, in capitals or not.

    A line is a phrase, itself an expression; an indented line goes on with the one above, without a
    space between them. `<name>` stands for the part of that name. The expression of a long table takes
    tens of milliseconds to compile, which are not spent before the first search.
    """

    def __init__(self, table: str, **parts: str):
        self._table, self._parts = table, parts

    @cached_property
    def search(self) -> Callable[..., re.Match[str] | None]:
        """As the `search` of a compiled expression."""
        return re.compile(alternatives(self._table, **self._parts), re.IGNORECASE).search


def alternatives(table: str, **parts: str) -> str:
    """The alternatives of a table as a regular expression, to be part of a larger one."""
    lines: list[str] = []
    for line in table.strip("\n").splitlines():
        if line[:1].isspace():
            lines[-1] += line.strip()
        elif line:
            lines.append(line.rstrip())
    text = f"(?:{'|'.join(lines)})"
    for name, part in parts.items():
        text = text.replace(f"<{name}>", part)
    return text
