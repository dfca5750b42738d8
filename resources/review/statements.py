"""SQL statements of the review store, from `.sql` files of this folder or from texts."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, CursorResult, Row, Text, TextClause, bindparam, text

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


class ItemStatement:
    """A statement for some items; in its text, `item_id {wanted}` is the condition on the items.

    SQLAlchemy expands a list of ids at each execution; a single id has its own, cached statement.
    """

    def __init__(self, written: str):
        self._for_one = text(written.format(wanted="= :item_id"))
        self._some = statement(written.format(wanted="IN :item_ids"), ("item_ids",))

    def rows(self, connection: Connection, item_ids: Iterable[str]) -> list[Row[Any]]:
        """Return the rows of some items in any order."""
        return [row for result in self._results(connection, item_ids) for row in result]

    def run(self, connection: Connection, item_ids: Iterable[str]) -> None:
        """Execute the statement for some items."""
        for _ in self._results(connection, item_ids):
            pass

    def _results(
        self, connection: Connection, item_ids: Iterable[str]
    ) -> Iterator[CursorResult[Any]]:
        for wanted in batched(item_ids, _ITEMS_AT_ONCE):
            if len(wanted) == 1:
                yield connection.execute(self._for_one, {"item_id": wanted[0]})
            else:
                yield connection.execute(self._some, {"item_ids": wanted})
