"""SQL statements of the review store, from `.sql` files of this folder or from texts."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, Text, TextClause, bindparam, text

from methods.batched import batched

_FOLDER = Path(__file__).parent
_ITEMS_AT_ONCE = 500


@cache
def sql(name: str, lists: tuple[str, ...] = ()) -> TextClause:
    """Prepare the statement in the file `<name>.sql`; see `statement`."""
    return statement((_FOLDER / f"{name}.sql").read_text(encoding="utf-8"), lists)


def statement(written: str, lists: tuple[str, ...] = ()) -> TextClause:
    """Prepare a statement with parameters such as `:item_id`.

    Args:
        written: The SQL text.
        lists: Names of parameters that are lists of texts, as in `kind IN :kinds`.
    """
    expanding = [bindparam(each, expanding=True, type_=Text()) for each in lists]
    return text(written).bindparams(*expanding)


def rows_for(connection: Connection, query: TextClause, item_ids: Iterable[str]) -> list[Row[Any]]:
    """Execute a statement for some items, its parameter `:item_ids`; return all rows in any order."""
    results = [
        connection.execute(query, {"item_ids": wanted})
        for wanted in batched(item_ids, _ITEMS_AT_ONCE)
    ]
    return [row for result in results if result.returns_rows for row in result]
