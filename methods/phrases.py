"""Phrase lists: compiles a table of phrases to one regular expression."""

import re
from collections.abc import Callable
from functools import cached_property


class Phrases:
    """Searches for any phrase of a table, ignoring case.

    Each line of the table is a phrase, written as a regular expression. An indented line continues the
    line above, without a space between them. `<name>` is replaced by the part of that name. The
    expression is compiled at the first search, because a long table takes tens of milliseconds.
    """

    def __init__(self, table: str, **parts: str):
        self._table, self._parts = table, parts

    @cached_property
    def search(self) -> Callable[..., re.Match[str] | None]:
        """The method `search` of the compiled expression."""
        return re.compile(alternatives(self._table, **self._parts), re.IGNORECASE).search


def alternatives(table: str, **parts: str) -> str:
    """Make a regular expression of the alternatives of a table, as a part of a larger expression."""
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
