"""INSERT statements that SQLAlchemy has for each dialect separately."""

from functools import cache
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite


@cache
def insert_missing(dialect: str, table: Table) -> Any:
    """An INSERT that leaves the rows alone whose key there is already.

    Args:
        dialect: `sqlite` or `postgresql`, as in `connection.dialect.name`.
        table: The table.

    Returns:
        The INSERT; its `rowcount` is the number of new rows, of several rows in all. A row that breaks
        another rule raises IntegrityError, unlike with INSERT OR IGNORE.
    """
    insert = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    return insert.on_conflict_do_nothing().execution_options(preserve_rowcount=True)
