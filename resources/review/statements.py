"""SQL statements of the review store, from `.sql` files of this folder or from texts."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, CursorResult, Executable, Row, Text, bindparam, column, text

from methods.batched import batched

_FOLDER = Path(__file__).parent
_ITEMS_AT_ONCE = 500


@cache
def sql(name: str, *columns: str, lists: tuple[str, ...] = ()) -> Executable:
    """Prepare the statement in `<name>.sql`, with parameters such as `:item_id`.

    Args:
        name: The file, without its extension.
        columns: See `statement`.
        lists: See `statement`.
    """
    written = (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
    return statement(written, *columns, lists=lists)


def statement(written: str, *columns: str, lists: tuple[str, ...] = ()) -> Executable:
    """Prepare a statement with parameters such as `:item_id`.

    Args:
        written: The SQL text.
        columns: The names of all columns of the result, in order. Optional: statements with known
            columns run a third faster, which matters for those that each click runs.
        lists: Names of parameters that are lists of texts, as in `kind IN :kinds`.
    """
    expanding = [bindparam(each, expanding=True, type_=Text()) for each in lists]
    plain = text(written).bindparams(*expanding)
    return plain.columns(*map(column, columns)) if columns else plain


class ItemStatement:
    """A statement for some items; in its text, `item_id {wanted}` is the condition on the items.

    SQLAlchemy expands a list of ids at each execution; a single id has its own, cached statement.
    """

    def __init__(self, written: str, *columns: str):
        some = written.format(wanted="IN :item_ids")
        self._for_one = statement(written.format(wanted="= :item_id"), *columns)
        self._some = statement(some, *columns, lists=("item_ids",))

    def rows(self, connection: Connection, item_ids: Iterable[str]) -> list[Row[Any]]:
        """Return the rows of some items in any order.

        Args:
            connection: The review store.
            item_ids: The items.

        Returns:
            The rows.
        """
        return [row for result in self._results(connection, item_ids) for row in result]

    def run(self, connection: Connection, item_ids: Iterable[str]) -> None:
        """Execute the statement for some items.

        Args:
            connection: The review store.
            item_ids: The items.
        """
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
