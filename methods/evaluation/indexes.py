"""Indexes and ids that tools wrote as floats: reads them as whole numbers.

pandas converts a column of numbers with a missing value to floats, and writes 1000001 as `1000001.0` or
`1.000001e+06`.
"""

import re
from collections.abc import Container
from decimal import Decimal

from methods.evaluation.cells import FileRow
from methods.evaluation.published import PublishedError

_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]{1,3})?|[eE][+-][0-9]{1,3})")
"""Matches 1.5, 1.0e6 and 1e+06, but not 12e45, which may be a hash."""
_MOST = 2**53
"""From this number on, a float does not determine which whole number it was."""


def whole_id(where: str, column: str, text: str) -> str:
    """Read an id; a whole number that was written as a float becomes whole again.

    Args:
        where: The row, for messages.
        column: The column, for messages.
        text: The id as it is written.

    Returns:
        The id.

    Raises:
        PublishedError: The id is a fractional float, or a float too large to identify one integer.
    """
    if not _FLOAT.fullmatch(text.strip()):
        return text
    number = Decimal(text.strip())
    if number.copy_abs() >= _MOST or number != int(number):
        raise PublishedError(f"{where}: its {column} {ascii(text[:80])} is not a whole number")
    return str(int(number))


def whole_index(where: str, column: str, text: str) -> str:
    """Read the index of a table's row: a `whole_id` without leading blanks and zeros.

    Args:
        where: The row, for messages.
        column: The column, for messages.
        text: The index as it is written.

    Returns:
        The index.

    Raises:
        PublishedError: As `whole_id`.
    """
    text = whole_id(where, column, text).strip()
    return str(int(text)) if re.fullmatch("0[0-9]{1,15}", text) else text


def known_id(row: FileRow, column: str, item_ids: Container[str]) -> str:
    """Read the id in a row's cell: unchanged if the release has it, otherwise by `whole_id`.

    Args:
        row: The row.
        column: The column with the id.
        item_ids: The ids of the release.

    Returns:
        The id.

    Raises:
        PublishedError: The cell is not an id of the release, but a float that is not whole.
    """
    text = row.cells.get(column, "")
    return text if text in item_ids else whole_id(row.where, column, text)
