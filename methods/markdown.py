"""Markdown tables, and escaping of texts from outside for Markdown."""

import re
from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Write a Markdown table.

    Args:
        heads: The headings of the columns.
        rows: The cells of each row, as Markdown.

    Returns:
        The lines of the table.
    """
    return [
        f"| {' | '.join(cells)} |"
        for cells in (tuple(heads), ["---"] * len(heads), *map(tuple, rows))
    ]


_PIPE = re.compile(r"(?<!\\)(\\*)\|")
"""A pipe with the backslashes before it, of which an even number leaves it a border of a cell."""


def cell(text: str) -> str:
    """Write a text for a table cell: on one line, with escaped "|"."""
    return _PIPE.sub(r"\1\1\\|", " ".join(text.split()))


def code(value: object) -> str:
    """Write a text as inline code, which Markdown does not interpret; empty for an empty text."""
    text = cell(str(value)).replace("`", "'")
    return f"`{text}`" if text else ""
