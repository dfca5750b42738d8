"""INSERT statements that SQLAlchemy has for each dialect separately."""

from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_missing(dialect: str, table: Table) -> Any:
    """An INSERT that leaves the rows alone whose key there is already.

    Args:
        dialect: `sqlite` or `postgresql`, as in `connection.dialect.name`.
        table: The table.

    Returns:
        The INSERT. A row that breaks another rule raises IntegrityError, unlike with INSERT OR IGNORE.
    """
    if dialect == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()
