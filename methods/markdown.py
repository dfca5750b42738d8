"""Markdown of tables and of texts from outside."""

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


def cell(text: str) -> str:
    """A text on one line, without an end of a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code(value: object) -> str:
    """A text that Markdown shows as it is, also inside a table."""
    text = cell(str(value)).replace("`", "'")
    return f"`{text}`" if text else ""
