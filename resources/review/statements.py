"""Statements of the review store: long ones in `.sql` files of this folder, and those with lists."""

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
    """The statement in `<name>.sql`, with values `:name`.

    Args:
        name: The file, without its ending.
        columns: As in `statement`.
        lists: As in `statement`.
    """
    written = (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
    return statement(written, *columns, lists=lists)


def statement(written: str, *columns: str, lists: tuple[str, ...] = ()) -> Executable:
    """A statement with values `:name`.

    Args:
        written: Its text.
        columns: The names of all columns of its rows, in their order: a statement that is run for each
            click is a third faster if they are not found out each time.
        lists: Names of values that are lists of texts, as in `kind IN :kinds`.
    """
    expanding = [bindparam(each, expanding=True, type_=Text()) for each in lists]
    plain = text(written).bindparams(*expanding)
    return plain.columns(*map(column, columns)) if columns else plain


class ItemStatement:
    """A statement about rows of items; `item_id {wanted}` in its text stands for the items.

    The list of ids is inserted each time, so a single id has its own cached statement.
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
